import pytest

from cachetools import TLRUCache


class Clock:
    now = 0

    def __call__(self):
        return self.now


def cache_with(clock):
    return TLRUCache(100, ttu=lambda key, value, now: now + value, timer=clock)


def test_a_prolonged_item_lives_until_its_new_time():
    clock = Clock()
    cache = cache_with(clock)
    cache["a"] = 5
    cache["a"] = 50
    clock.now = 6
    assert len(cache) == 1
    clock.now = 51
    assert list(cache.expire()) == [("a", 50)]


@pytest.mark.parametrize("rewrites", [5, 20, 61])
def test_items_expire_once_however_often_others_were_rewritten(rewrites):
    clock = Clock()
    cache = cache_with(clock)
    cache["a"] = 10
    cache["b"] = 20
    for _ in range(rewrites):
        cache["c"] = 30
    clock.now = 15
    assert list(cache.expire()) == [("a", 10)]
    assert cache.currsize == len(cache) == 2
    clock.now = 31
    assert sorted(cache.expire()) == [("b", 20), ("c", 30)]
    assert cache.currsize == 0
