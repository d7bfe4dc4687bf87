"""QuixBugs: one function each with a bug in one line, its corrected version, and pytest tests."""

from __future__ import annotations

from pathlib import Path

from akbench.spec import ImportedDataset, ImportedTask, InputError
from akbench_datasets.checkout import Checkout
from akbench_datasets.pytest_environment import PYTEST, PYTHON

__all__ = ["read_quixbugs"]

_KNOWN = "https://github.com/jkoppel/QuixBugs"
_SHARED_TEST_FILES = ("conftest.py", "python_testcases/load_testdata.py", "python_testcases/node.py")
_TEST_SECONDS = 3
_SLOW = {"levenshtein": 60}
"""Programs that take seconds for a case even when they are right."""
_CHECK_SECONDS = 300


def read_quixbugs(source: Path) -> ImportedDataset:
    """The programs of ``python_programs/`` that have a corrected version. Raises `InputError` for another folder."""
    for name in ("python_programs", "correct_python_programs", "python_testcases"):
        if not (source / name).is_dir():
            raise InputError(f"no checkout of QuixBugs: it has no folder {name}", place=str(source))
    checkout = Checkout(source)
    origin, license_name = checkout.origin(_KNOWN), checkout.license() or "unknown"
    tasks, refused = [], {}
    for path in sorted((source / "python_programs").glob("*.py")):
        if _is_helper(path.stem) or not checkout.has(f"correct_python_programs/{path.name}"):
            continue
        try:
            tasks.append(_task(checkout, path.stem, license_name))
        except InputError as error:
            refused[path.stem] = str(error)
    return ImportedDataset(
        title="QuixBugs (Python)",
        description="Classic algorithms with a bug in one line each.",
        license=license_name,
        source=origin.source,
        commit=origin.commit,
        tasks=tuple(tasks),
        refused=refused,
        notes=("Difficulties are not stated by the source; all are held to be easy.",),
    )


def _is_helper(name: str) -> bool:
    """Beside the programs lie scripts that try some of them, and the node that these use."""
    return name == "node" or name.endswith("_test")


def _task(checkout: Checkout, name: str, license_name: str) -> ImportedTask:
    program, test = f"python_programs/{name}.py", f"python_testcases/test_{name}.py"
    if not checkout.has(test):
        raise InputError("it has no test in python_testcases/")
    return ImportedTask(
        id=name,
        title=f"One line of {name} is wrong",
        category="bug_fix",
        difficulty="easy",
        description=_description(name, program),
        license=license_name,
        repository={program: checkout.content(program)},
        hidden_tests={path: checkout.content(path) for path in _test_files(checkout, name, test)},
        solution={program: checkout.content(f"correct_python_programs/{name}.py")},
        evaluator="pytest",
        config={
            "target": [test],
            "test_timeout_seconds": _SLOW.get(name, _TEST_SECONDS),
            "timeout_seconds": _CHECK_SECONDS,
        },
        python=PYTHON,
        requirements=PYTEST,
        tags=("algorithms", "one-line"),
    )


def _test_files(checkout: Checkout, name: str, test: str) -> list[str]:
    cases = f"json_testcases/{name}.json"
    wanted = [test, *_SHARED_TEST_FILES, cases]
    return [path for path in wanted if checkout.has(path)]


def _description(name: str, program: str) -> str:
    return (
        f"# `{name}` does not do what it says\n\n"
        f"The function `{name}` in `{program}` has a bug in one line. What it is meant to do is written in the text at "
        "the end of that file. Find the bug and fix it; the function keeps its name, its parameters and its file.\n"
    )
