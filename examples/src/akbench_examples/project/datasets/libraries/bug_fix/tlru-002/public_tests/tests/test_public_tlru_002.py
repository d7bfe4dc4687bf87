from cachetools import TLRUCache


class Clock:
    now = 0

    def __call__(self):
        return self.now


def test_a_prolonged_item_is_there_after_its_old_time():
    clock = Clock()
    cache = TLRUCache(10, ttu=lambda key, value, now: now + value, timer=clock)
    cache["a"] = 5
    cache["a"] = 50
    clock.now = 6
    assert len(cache) == 1
