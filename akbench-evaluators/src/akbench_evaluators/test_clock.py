"""A bound on each test, kept inside the suite's own process so that the tests after an endless one still report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

__all__ = ["TestClock"]

_AGAIN_SECONDS = 1.0


class TestClock:
    """A pytest plugin that fails the set-up, the call or the tear-down of a test that runs longer than `seconds`.

    The signal arrives between two steps of Python code: a single call into C that never returns is ended only by the
    bound of the whole check. Where the tested code swallows the failure it comes again.
    """

    __test__ = False  # for pytest: no test class, whatever its name

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Bound the set-up."""
        yield from self._bounded()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Bound the test itself."""
        yield from self._bounded()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        """Bound the tear-down."""
        yield from self._bounded()

    def _bounded(self) -> Iterator[None]:
        # Set for each phase: the tested code may use the signal itself.
        signal.signal(signal.SIGALRM, self._time_is_up)
        self._running = True
        signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN_SECONDS)
        try:
            yield
        finally:
            self._running = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _time_is_up(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._running:
            pytest.fail(f"ran longer than {self._seconds:g} s (test_timeout_seconds)")
