import random

import pytest

from cachetools import Cache, FIFOCache, LFUCache, LRUCache, RRCache, TLRUCache, TTLCache


def identity(value):
    return value


def first(keys):
    return keys[0]


KINDS = {
    "Cache": lambda size: Cache(size, getsizeof=identity),
    "FIFO": lambda size: FIFOCache(size, getsizeof=identity),
    "LFU": lambda size: LFUCache(size, getsizeof=identity),
    "LRU": lambda size: LRUCache(size, getsizeof=identity),
    "RR": lambda size: RRCache(size, choice=first, getsizeof=identity),
    "TTL": lambda size: TTLCache(size, ttl=60, timer=lambda: 0, getsizeof=identity),
    "TLRU": lambda size: TLRUCache(size, ttu=lambda _k, _v, now: now + 60, timer=lambda: 0, getsizeof=identity),
}
EVICTS_IN_KNOWN_ORDER = ["FIFO", "LFU", "LRU", "TTL", "TLRU"]


@pytest.fixture(params=EVICTS_IN_KNOWN_ORDER)
def cache(request):
    return KINDS[request.param](10)


def test_growing_the_next_item_to_go_keeps_the_sum_within_maxsize(cache):
    cache["a"] = cache["b"] = cache["c"] = 3
    cache["a"] = 6
    assert cache.currsize == sum(cache.values())
    assert dict(cache) == {"a": 6, "c": 3}


def test_an_item_that_grows_to_fill_the_cache_stays_alone(cache):
    cache["a"] = cache["b"] = cache["c"] = 3
    cache["a"] = 10
    assert (dict(cache), cache.currsize) == ({"a": 10}, 10)


def test_deleting_everything_leaves_a_size_of_zero(cache):
    cache["a"], cache["b"], cache["c"] = 4, 4, 2
    cache["a"] = 5
    for key in list(cache):
        del cache[key]
    assert cache.currsize == 0


def test_the_next_item_after_growth_fits_only_as_far_as_there_is_room(cache):
    cache["a"], cache["b"], cache["c"] = 2, 3, 5
    cache["a"] = 3
    assert cache.currsize == sum(cache.values()) <= 10
    cache["d"] = 4
    assert cache.currsize == sum(cache.values()) <= 10
    assert cache["d"] == 4


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"Cache"}))
def test_any_sequence_of_changes_keeps_the_books(kind):
    chance = random.Random(8)
    cache = KINDS[kind](20)
    for _ in range(2000):
        key = chance.choice("abcdefgh")
        if key in cache and chance.random() < 0.2:
            del cache[key]
        else:
            cache[key] = chance.randint(0, 12)
        assert cache.currsize == sum(cache[name] for name in list(cache))
        assert cache.currsize <= cache.maxsize


class OldestFirst(Cache):
    """A user's own cache class that relies on the base class for its books."""

    def popitem(self):
        key = next(iter(self))
        return key, self.pop(key)


def test_a_users_own_cache_class_keeps_the_books():
    cache = OldestFirst(10, getsizeof=identity)
    cache["a"] = cache["b"] = cache["c"] = 3
    cache["a"] = 5
    assert (dict(cache), cache.currsize) == ({"c": 3, "a": 5}, 8)
