from cachetools import TLRUCache


def cache_of(size):
    return TLRUCache(size, ttu=lambda key, value, now: now + 60, timer=lambda: 0)


def test_a_rewritten_item_outlives_older_ones():
    cache = cache_of(2)
    cache["a"] = 1
    cache["b"] = 2
    cache["a"] = 3
    cache["c"] = 4
    assert dict(cache.items()) == {"a": 3, "c": 4}


def test_popitem_takes_what_was_neither_read_nor_written_for_longest():
    cache = cache_of(3)
    for key in "abc":
        cache[key] = key
    cache["a"] = "new"
    assert [cache.popitem()[0] for _ in range(3)] == ["b", "c", "a"]


def test_writing_and_reading_count_alike():
    cache = cache_of(3)
    for key in "abc":
        cache[key] = key
    cache["b"] = "new"
    cache["a"]
    cache["d"] = "d"
    assert sorted(cache) == ["a", "b", "d"]
