"""Which of many possible mutations make a task: those that a small, stable set of tests notices."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from akbench.dataset.candidates import Candidate
from akbench.dataset.tree import Tree
from akbench.publish.test_runs import Baseline, TestBench

__all__ = ["Bounds", "Fate", "MeasuredCandidate", "Measurements", "search"]

_SHORTEST_SECONDS = 20.0
_PATIENCE = 5.0


class Fate(StrEnum):
    """What became of a candidate."""

    KEPT = "kept"
    UNNOTICED = "unnoticed"
    TOO_FEW = "too_few"
    TOO_MANY = "too_many"
    UNSTABLE = "unstable"
    TIMEOUT = "timeout"
    NO_CHANGE = "no_change"
    SAME_AS_ANOTHER = "same_as_another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is kept: how many tests fail, the same in how many repetitions, how many of one symbol; when to stop."""

    failing_min: int
    failing_max: int
    repetitions: int
    per_symbol: int
    keep: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCandidate:
    """A candidate, its place in the order (from 1), what became of it, and the tests that failed."""

    candidate: Candidate
    place: int
    fate: Fate
    content: bytes | None
    failing: frozenset[str] = frozenset()
    seconds: float = 0.0


class Measurements:
    """What was measured before, one line of JSON each in `path`; a search that was stopped goes on from there.

    The file belongs to one source tree, test selection and environment; the key of a line is the mutated file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, list[list[str] | None]] = {}
        if path.is_file():
            for line in path.read_text().splitlines():
                key, failing = _record(line)
                if key is not None:
                    self._known[key] = failing

    def known(self, key: str) -> list[list[str] | None]:
        """The failing tests of each repetition so far; None for one that ran out of time."""
        return list(self._known.get(key, ()))

    def add(self, key: str, address: str, failing: Sequence[Sequence[str] | None]) -> None:
        """Keep a measurement, on disk at once."""
        with self._lock:
            self._known[key] = [None if each is None else list(each) for each in failing]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as file:
                file.write(json.dumps({"mutated": key, "address": address, "failing": self._known[key]}) + "\n")


def _record(line: str) -> tuple[str | None, list[list[str] | None]]:
    """The key and the failing tests of a line; no key for one that a killed process left unfinished."""
    try:
        found = json.loads(line)
        return found["mutated"], found["failing"]
    except (ValueError, KeyError, TypeError):
        return None, []


def search(
    candidates: Sequence[Candidate],
    tree: Tree,
    tests: Sequence[str],
    *,
    bench: TestBench,
    baseline: Baseline,
    bounds: Bounds,
    measurements: Measurements,
    jobs: int,
) -> Iterator[MeasuredCandidate]:
    """Try `candidates` in their order until enough are kept, or the limit of tried ones is reached.

    What is found does not depend on `jobs`. Raises `HostError` when tests cannot be run on this machine.
    """
    trial = _Trial(tree=tree, tests=tests, bench=bench, baseline=baseline, bounds=bounds, measurements=measurements)
    kept: Counter[str] = Counter()
    seen: set[bytes] = set()
    tried = 0
    for found in _in_order(trial.measure, _worth_trying(candidates, kept, bounds), jobs):
        symbol = _symbol(found.candidate)
        if kept[symbol] >= bounds.per_symbol:
            # Begun before its symbol had enough: what is found must not depend on how many are tried at a time.
            continue
        if found.content is not None and found.content in seen:
            yield replace(found, fate=Fate.SAME_AS_ANOTHER)
            continue
        seen.add(found.content or b"")
        tried += found.fate is not Fate.NO_CHANGE
        kept[symbol] += found.fate is Fate.KEPT
        yield found
        if kept.total() >= bounds.keep or tried >= bounds.limit:
            return


def _symbol(candidate: Candidate) -> str:
    return f"{candidate.file}::{candidate.symbol}"


def _worth_trying(
    candidates: Sequence[Candidate], kept: Mapping[str, int], bounds: Bounds
) -> Iterator[tuple[int, Candidate]]:
    for place, candidate in enumerate(candidates, start=1):
        if kept[_symbol(candidate)] < bounds.per_symbol:
            yield place, candidate


def _in_order[A, B](function: Callable[[A], B], items: Iterator[A], jobs: int) -> Iterator[B]:
    """The results in the order of `items`, `jobs` of them in the making."""
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="mutate")
    waiting: deque[Future[B]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    tree: Tree
    tests: Sequence[str]
    bench: TestBench
    baseline: Baseline
    bounds: Bounds
    measurements: Measurements

    def measure(self, item: tuple[int, Candidate]) -> MeasuredCandidate:
        """Try one candidate, as often as its results so far deserve."""
        place, candidate = item
        content = candidate.content()
        if content is None:
            return MeasuredCandidate(candidate=candidate, place=place, fate=Fate.NO_CHANGE, content=None)
        key = hashlib.sha256(candidate.file.encode() + b"\0" + content).hexdigest()
        failing = self.measurements.known(key)
        seconds = 0.0
        while self._undecided(failing):
            tree = self.tree.replace(os.fsencode(candidate.file), content)
            found, took = self._failing(tree, f"{place}-{len(failing)}")
            failing.append(found)
            seconds += took
            self.measurements.add(key, candidate.address, failing)
        return MeasuredCandidate(
            candidate=candidate,
            place=place,
            fate=self._fate(failing),
            content=content,
            failing=frozenset(failing[0] or ()),
            seconds=seconds,
        )

    def _failing(self, tree: Tree, name: str) -> tuple[list[str] | None, float]:
        bound = max(_SHORTEST_SECONDS, _PATIENCE * self.baseline.seconds)
        run = self.bench.run(tree, self.tests, seconds=bound, name=name)
        return None if run.problem else sorted(self.baseline.passing - run.passed), run.seconds

    def _undecided(self, failing: Sequence[Sequence[str] | None]) -> bool:
        return not failing or (len(failing) < self.bounds.repetitions and self._fate(failing) is Fate.KEPT)

    def _fate(self, failing: Sequence[Sequence[str] | None]) -> Fate:
        first = failing[0]
        if first is None:
            return Fate.TIMEOUT
        if any(each != first for each in failing):
            return Fate.UNSTABLE
        if not first:
            return Fate.UNNOTICED
        if len(first) < self.bounds.failing_min:
            return Fate.TOO_FEW
        return Fate.TOO_MANY if len(first) > self.bounds.failing_max else Fate.KEPT
