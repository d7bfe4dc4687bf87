"""Searching with tests that run in this process: what is kept, what is not, and going on after a stop."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from akbench.dataset.candidates import propose
from akbench.dataset.tree import FILE, Tree
from akbench.publish.measured import Measured
from akbench.publish.mutation_search import Bounds, Fate, search
from akbench.publish.test_runs import Baseline, TestRun, baseline_of
from akbench.spec import InputError

SOURCE = b"""\
def clamp(low, n, high):
    if n < low:
        return low
    return min(n, high)


def total(xs, start=0):
    for x in xs:
        start += x
    return start


def unused(a, b):
    return a - b
"""
TREE = Tree.of({b"m.py": (FILE, SOURCE)})
CHECKS = {
    "t.py::low": lambda m: m["clamp"](1, 0, 9) == 1,
    "t.py::inside": lambda m: m["clamp"](1, 5, 9) == 5,
    "t.py::high": lambda m: m["clamp"](1, 10, 9) == 9,
    "t.py::total": lambda m: m["total"]([1, 2]) == 3,
    "t.py::empty": lambda m: m["total"]([]) == 0,
    "t.py::broken": lambda m: m["missing"],
}


class InProcess:
    """Runs the checks on a tree, and counts; `flaky` fails at every second run of a changed tree."""

    def __init__(self, flaky: bool = False) -> None:
        self.runs = 0
        self.flaky = flaky
        self.cancelled = threading.Event()

    def run(self, tree: Tree, tests: object, *, seconds: float, name: str) -> TestRun:
        self.runs += 1
        module: dict[str, object] = {}
        exec(tree.read(b"m.py"), module)
        statuses = {test: "passed" if self._holds(check, module) else "failed" for test, check in CHECKS.items()}
        if self.flaky and tree != TREE and self.runs % 2:
            statuses["t.py::empty"] = "failed" if statuses["t.py::empty"] == "passed" else "passed"
        return TestRun(statuses=statuses, problem=None, seconds=0.0)

    @staticmethod
    def _holds(check, module) -> bool:
        try:
            return bool(check(module))
        except Exception:
            return False


BASELINE = Baseline(passing=frozenset(CHECKS) - {"t.py::broken"}, others=frozenset({"t.py::broken"}), seconds=0.0)


def found_by(tmp_path: Path, bench: InProcess | None = None, jobs: int = 1, **changes: int):
    values = {"failing_min": 1, "failing_max": 2, "repetitions": 2, "per_symbol": 9, "keep": 99, "limit": 999}
    return tuple(
        search(
            propose(TREE, files=["m.py"], seed=0),
            TREE,
            ["t.py"],
            bench=bench or InProcess(),
            baseline=BASELINE,
            bounds=Bounds(**{**values, **changes}),
            measured=Measured(tmp_path / "found.jsonl"),
            jobs=jobs,
        )
    )


def test_kept_is_what_a_few_tests_notice(tmp_path: Path):
    found = {each.candidate.address: each for each in found_by(tmp_path)}
    kept = found["m.py::clamp swapped-callee#1"]
    assert (kept.fate, kept.failing) == (Fate.KEPT, {"t.py::inside", "t.py::high"})
    assert found["m.py::unused arithmetic-operator#1"].fate is Fate.UNNOTICED
    assert all(1 <= len(each.failing) <= 2 for each in found.values() if each.fate is Fate.KEPT)
    assert {each.fate for each in found.values()} == {
        Fate.KEPT,
        Fate.UNNOTICED,
        Fate.TOO_MANY,
        Fate.SAME_AS_ANOTHER,
    }
    same = [each.content for each in found.values() if each.fate is not Fate.SAME_AS_ANOTHER]
    assert len(same) == len(set(same))


def test_bounds_on_the_failing_tests_hold(tmp_path: Path):
    assert {each.fate for each in found_by(tmp_path, failing_max=1)} >= {Fate.KEPT, Fate.TOO_MANY}
    assert {each.fate for each in found_by(tmp_path, failing_min=2)} >= {Fate.KEPT, Fate.TOO_FEW}


def test_what_is_not_the_same_every_time_is_not_kept(tmp_path: Path):
    fates = {each.fate for each in found_by(tmp_path, InProcess(flaky=True))}
    assert Fate.UNSTABLE in fates
    assert Fate.KEPT not in fates


def test_a_symbol_gives_no_more_tasks_than_asked_for_and_the_search_ends_when_enough_are_kept(tmp_path: Path):
    kept = [each.candidate.symbol for each in found_by(tmp_path, per_symbol=1) if each.fate is Fate.KEPT]
    assert sorted(kept) == ["clamp", "total"]
    assert sum(each.fate is Fate.KEPT for each in found_by(tmp_path, keep=1)) == 1
    assert sum(each.fate is not Fate.SAME_AS_ANOTHER for each in found_by(tmp_path, limit=3)) == 3


@pytest.mark.parametrize("changes", [{}, {"per_symbol": 1}, {"limit": 5}, {"keep": 2}])
def test_what_is_found_does_not_depend_on_how_many_are_tried_at_a_time(tmp_path: Path, changes: dict[str, int]):
    one, four = (found_by(tmp_path / str(jobs), jobs=jobs, **changes) for jobs in (1, 4))
    assert [(each.candidate, each.fate, each.failing) for each in one] == [
        (each.candidate, each.fate, each.failing) for each in four
    ]


def test_a_stopped_search_goes_on_without_measuring_again(tmp_path: Path):
    first, second = InProcess(), InProcess()
    found = found_by(tmp_path, first, limit=4)
    with (tmp_path / "found.jsonl").open("a") as file:
        file.write('{"key": "half a li')
    again = found_by(tmp_path, second, limit=4)
    assert [(each.candidate, each.fate, each.failing) for each in again] == [
        (each.candidate, each.fate, each.failing) for each in found
    ]
    assert (first.runs > 0, second.runs) == (True, 0)


def test_a_baseline_is_what_passes_every_time():
    assert baseline_of(InProcess(), TREE, ["t.py"], seconds=1, repetitions=2) == BASELINE


def test_tests_that_cannot_be_run_or_never_pass_are_no_baseline():
    class Fruitless:
        def __init__(self, problem: str | None) -> None:
            self.problem = problem

        def run(self, *_: object, **__: object) -> TestRun:
            return TestRun(statuses={"t": "failed"}, problem=self.problem, seconds=0.0)

    with pytest.raises(InputError, match="cannot be run on the repository as it is: no pytest"):
        baseline_of(Fruitless("no pytest"), TREE, ["t"], seconds=1, repetitions=1)
    with pytest.raises(InputError, match="none of the 1 selected tests passes"):
        baseline_of(Fruitless(None), TREE, ["t"], seconds=1, repetitions=1)
