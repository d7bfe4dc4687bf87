import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cachetools import LRUCache, cached, cachedmethod

PATIENCE = 10


class TellingCondition(threading.Condition):
    """Tells each time that some thread begins to wait."""

    def __init__(self, progress):
        super().__init__()
        self.progress = progress

    def wait(self, timeout=None):
        self.progress.release()
        return super().wait(timeout)


class Workshop:
    """A function whose calls for "slow" last until the gate opens; other calls end at once.

    `progress` counts what a thread that asks for "slow" can do: begin to wait, or begin the call.
    """

    def __init__(self):
        self.progress = threading.Semaphore(0)
        self.condition = TellingCondition(self.progress)
        self.gate = threading.Event()
        self.calls = []

    def settle(self, threads):
        """Wait until so many threads have begun to wait or to call."""
        for _ in range(threads):
            assert self.progress.acquire(timeout=PATIENCE)

    def work(self, page):
        self.calls.append(page)
        if page.startswith("slow"):
            self.progress.release()
            self.gate.wait(PATIENCE)
        if page == "slow broken" and self.calls.count(page) == 1:
            raise OSError("first try")
        return page.upper()


def by_function(workshop, *, info):
    return cached(LRUCache(10), condition=workshop.condition, info=info)(workshop.work)


def by_method(workshop, *, info):
    class Cached:
        cache = LRUCache(10)

        @cachedmethod(lambda self: self.cache, condition=lambda _: workshop.condition, info=info)
        def work(self, page):
            return workshop.work(page)

    return Cached().work


@pytest.fixture(
    params=[(by_function, False), (by_function, True), (by_method, False), (by_method, True)],
    ids=["cached", "cached-info", "cachedmethod", "cachedmethod-info"],
)
def scene(request):
    workshop = Workshop()
    decorate, info = request.param
    yield workshop, decorate(workshop, info=info)
    workshop.gate.set()


def test_waiting_threads_go_on_waiting_when_another_call_ends(scene):
    workshop, work = scene
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(work, "slow")]
        workshop.settle(1)
        futures += [pool.submit(work, "slow") for _ in range(2)]
        workshop.settle(2)
        work("quick")
        workshop.settle(2)
        workshop.gate.set()
        results = [future.result(PATIENCE) for future in futures]
    assert results == ["SLOW"] * 3
    assert workshop.calls == ["slow", "quick"]


def test_it_holds_over_many_other_calls(scene):
    workshop, work = scene
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(work, "slow")]
        workshop.settle(1)
        futures.append(pool.submit(work, "slow"))
        workshop.settle(1)
        for number in range(5):
            work(f"quick {number}")
            if workshop.calls.count("slow") == 1:
                workshop.settle(1)
        workshop.gate.set()
        results = [future.result(PATIENCE) for future in futures]
    assert results == ["SLOW"] * 2
    assert workshop.calls.count("slow") == 1


def test_after_a_failed_call_a_single_waiting_thread_has_its_turn(scene):
    workshop, work = scene
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(work, "slow broken")
        workshop.settle(1)
        others = [pool.submit(work, "slow broken") for _ in range(2)]
        workshop.settle(2)
        work("quick")
        workshop.settle(2)
        workshop.gate.set()
        assert isinstance(first.exception(PATIENCE), OSError)
        assert [other.result(PATIENCE) for other in others] == ["SLOW BROKEN"] * 2
    assert workshop.calls.count("slow broken") == 2
