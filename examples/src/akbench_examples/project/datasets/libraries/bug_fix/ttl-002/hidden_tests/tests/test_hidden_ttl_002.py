from cachetools import TTLCache


class Clock:
    now = 0

    def __call__(self):
        return self.now


def filled(clock, maxsize=10):
    cache = TTLCache(maxsize, ttl=5, timer=clock)
    for key in "abc":
        cache[key] = key.upper()
    return cache


def test_a_deleted_item_does_not_expire_later():
    clock = Clock()
    cache = filled(clock)
    del cache["b"]
    clock.now = 6
    assert list(cache.expire()) == [("a", "A"), ("c", "C")]
    assert len(cache) == 0


def test_an_item_thrown_out_does_not_expire_later():
    clock = Clock()
    cache = filled(clock, maxsize=2)
    clock.now = 6
    assert list(cache.expire()) == [("b", "B"), ("c", "C")]


def test_popped_items_do_not_expire_later():
    clock = Clock()
    cache = filled(clock)
    assert cache.pop("a") == "A"
    cache.popitem()
    clock.now = 6
    assert len(cache) == 0
    cache["d"] = "D"
    assert list(cache) == ["d"]
