import threading
from concurrent.futures import ThreadPoolExecutor

from cachetools import LRUCache, cached


class TellingCondition(threading.Condition):
    """Tells each time that some thread begins to wait."""

    def __init__(self, progress):
        super().__init__()
        self.progress = progress

    def wait(self, timeout=None):
        self.progress.release()
        return super().wait(timeout)


def test_a_waiting_thread_does_not_start_the_call_again_when_another_one_ends():
    progress, gate = threading.Semaphore(0), threading.Event()
    calls = []

    @cached(LRUCache(10), condition=TellingCondition(progress))
    def render(page):
        calls.append(page)
        if page == "slow":
            progress.release()
            gate.wait(10)
        return page.upper()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(render, "slow")
        assert progress.acquire(timeout=10)
        second = pool.submit(render, "slow")
        assert progress.acquire(timeout=10)
        assert render("quick") == "QUICK"
        assert progress.acquire(timeout=10), "the waiting thread did nothing"
        gate.set()
        assert (first.result(10), second.result(10)) == ("SLOW", "SLOW")
    assert calls == ["slow", "quick"]
