import pytest

from cachetools import LFUCache


@pytest.mark.parametrize("uses", ["aca", "bcb", "aba"])
def test_popitem_goes_by_the_number_of_uses(uses):
    cache = LFUCache(maxsize=10)
    for key in "abc":
        cache[key] = key
    for key in uses:
        cache[key]
    counts = [1 + uses.count(cache.popitem()[0]) for _ in range(3)]
    assert counts == sorted(counts)


def test_reading_one_of_two_keeps_the_other_count():
    cache = LFUCache(maxsize=2)
    cache["a"] = 1
    cache["b"] = 2
    cache["a"]
    cache["c"] = 3
    assert sorted(cache) == ["a", "c"]
