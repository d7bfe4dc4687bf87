"""What slow searches found so far, so that one which was stopped goes on from there."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from akbench.spec import JsonValue

__all__ = ["Measured", "in_order"]


class Measured:
    """Findings by key: one line of JSON each in the file `path`, of which the last of a key counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, JsonValue] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        """Remember a line; one that a killed process left unfinished says nothing."""
        try:
            record = json.loads(line)
        except ValueError:
            return
        if isinstance(record, dict) and {"key", "found"} <= record.keys():
            self._known[record["key"]] = record["found"]

    def known(self, key: str) -> JsonValue:
        """What was found; None if nothing was."""
        with self._lock:
            return self._known.get(key)

    def add(self, key: str, found: JsonValue) -> None:
        """Keep a finding, on disk at once."""
        with self._lock:
            self._known[key] = found
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "found": found}) + "\n")


def in_order[A, B](
    function: Callable[[A], B], items: Iterator[A], jobs: int, cancelled: threading.Event
) -> Iterator[B]:
    """The results in the order of `items`, `jobs` of them in the making.

    When no more are wanted, or something went wrong, `cancelled` is set for those still in the making.
    """
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="search")
    waiting: deque[Future[B]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        cancelled.set()
        pool.shutdown(cancel_futures=True)
