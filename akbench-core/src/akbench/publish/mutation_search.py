"""Which of many possible mutations make a task: those that a small, stable set of tests notices."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from akbench.dataset.candidates import Candidate
from akbench.dataset.tree import Tree
from akbench.publish.measured import Measured, in_order
from akbench.publish.test_runs import Baseline, TestBench
from akbench.spec import JsonValue

__all__ = ["Bounds", "Fate", "MeasuredCandidate", "search"]

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


def search(
    candidates: Sequence[Candidate],
    tree: Tree,
    tests: Sequence[str],
    *,
    bench: TestBench,
    baseline: Baseline,
    bounds: Bounds,
    measured: Measured,
    jobs: int,
) -> Iterator[MeasuredCandidate]:
    """Try `candidates` in their order until enough are kept, or the limit of tried ones is reached.

    What is found does not depend on `jobs`. Raises `HostError` when tests cannot be run on this machine.
    """
    trial = _Trial(tree=tree, tests=tests, bench=bench, baseline=baseline, bounds=bounds, measured=measured)
    kept: Counter[str] = Counter()
    seen: set[bytes] = set()
    tried = 0
    for found in in_order(trial.measure, _worth_trying(candidates, kept, bounds), jobs, bench.cancelled):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    tree: Tree
    tests: Sequence[str]
    bench: TestBench
    baseline: Baseline
    bounds: Bounds
    measured: Measured

    def measure(self, item: tuple[int, Candidate]) -> MeasuredCandidate:
        """Try one candidate, as often as its results so far deserve."""
        place, candidate = item
        content = candidate.content()
        if content is None:
            return MeasuredCandidate(candidate=candidate, place=place, fate=Fate.NO_CHANGE, content=None)
        key = hashlib.sha256(candidate.file.encode() + b"\0" + content).hexdigest()
        failing = _failures(self.measured.known(key))
        seconds = 0.0
        while self._undecided(failing):
            tree = self.tree.replace(os.fsencode(candidate.file), content)
            found, took = self._failing(tree, f"{place}-{len(failing)}")
            failing.append(found)
            seconds += took
            self.measured.add(key, [None if each is None else [*each] for each in failing])
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


def _failures(known: JsonValue) -> list[list[str] | None]:
    """The failing tests of each repetition so far; None for one that ran out of time."""
    runs = known if isinstance(known, list) else []
    return [[str(test) for test in run] if isinstance(run, list) else None for run in runs]
