"""Writing a task that a program has made: complete but for what only a person can write."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from akbench import __version__
from akbench.dataset.dataset import UNWRITTEN
from akbench.dataset.tree import Tree
from akbench.publish.test_runs import EVALUATOR
from akbench.spec import InputError, JsonValue

__all__ = ["NewTask", "TaskTerms", "files_of", "free_id", "protecting", "write_task"]

_WIDE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTerms:
    """What all tasks of one making have in common."""

    category: str
    difficulty: str
    python: str
    requirements: tuple[str, ...]
    python_path: tuple[str, ...]
    timeout_seconds: float
    test_timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What a new task is made of.

    - `hint`: a line for the person who writes the description; `origin`: how the task came about, read by people only.
    - `repository`, `repository_id`, `repository_version`: the section and header of its repository.yaml.
    - `target`, `regression`, `deselect`: what the evaluator is told.
    - `mutations`: title and section of each mutation file, in their order.
    """

    id: str
    terms: TaskTerms
    hint: str
    protected: tuple[str, ...]
    repository: Mapping[str, JsonValue]
    repository_id: str
    repository_version: str
    target: tuple[str, ...]
    regression: tuple[str, ...]
    deselect: tuple[str, ...]
    origin: Mapping[str, JsonValue]
    mutations: tuple[tuple[str, Mapping[str, JsonValue]], ...] = ()
    hidden_tests: Tree = field(default_factory=lambda: Tree.of({}))
    reference_patch: bytes | None = None


def free_id(dataset: Path, prefix: str) -> str:
    """The first ``<prefix>-NNN`` that no task of the dataset has."""
    taken = {path.parent.name for path in dataset.glob("*/*/task.yaml")}
    return next(name for number in range(1, 10_000) if (name := f"{prefix}-{number:03}") not in taken)


def files_of(test_ids: Iterable[str]) -> tuple[str, ...]:
    """The files that the tests are in, sorted."""
    return tuple(sorted({test_id.partition("::")[0] for test_id in test_ids}))


def write_task(dataset: Path, task: NewTask) -> Path:
    """Write the task's folder, whole or not at all, and return it. Raises `InputError` if there is one of its name."""
    target = dataset / task.terms.category / task.id
    if target.exists():
        raise InputError("there is a task of that name", place=str(target))
    target.parent.mkdir(exist_ok=True)
    # Deeper than where a dataset's tasks are looked for, so that a half-written one is never found.
    with tempfile.TemporaryDirectory(dir=dataset, prefix=".writing-") as making:
        draft = Path(making) / "unfinished" / task.id
        _write(draft, task)
        draft.rename(target)
    return target


def _write(folder: Path, task: NewTask) -> None:
    folder.mkdir(parents=True)
    _yaml(folder / "task.yaml", task.id, {"task": _task_part(task)})
    (folder / "description.md").write_text(_skeleton(task), encoding="utf-8")
    _yaml(
        folder / "repository.yaml",
        task.repository_id,
        {"repository": dict(task.repository)},
        version=task.repository_version,
    )
    _yaml(folder / "evaluator.yaml", f"{task.id}-tests", {"evaluator": _evaluator_part(task)})
    _yaml(folder / "origin.yaml", f"{task.id}-origin", {"origin": {"akbench": __version__, **task.origin}})
    for number, (title, part) in enumerate(task.mutations, start=1):
        name = f"mutation-{number:03}"
        _yaml(folder / "mutations" / f"{name}.yaml", name, {"title": title, "mutation": dict(part)})
    if task.hidden_tests.entries:
        task.hidden_tests.materialise(folder / "hidden_tests")
    if task.reference_patch is not None:
        (folder / "solution").mkdir()
        (folder / "solution" / "reference.patch").write_bytes(task.reference_patch)


def _task_part(task: NewTask) -> dict[str, JsonValue]:
    return {
        "category": task.terms.category,
        "difficulty": task.terms.difficulty,
        "environment": {
            "python": task.terms.python,
            "requirements": [*task.terms.requirements],
            "python_path": [*task.terms.python_path],
        },
        "protected": [*task.protected],
    }


def _evaluator_part(task: NewTask) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {"target": [*task.target]}
    for key, selectors in (("regression", task.regression), ("deselect", task.deselect)):
        if selectors:
            config[key] = [*selectors]
    config["timeout_seconds"] = task.terms.timeout_seconds
    config["test_timeout_seconds"] = task.terms.test_timeout_seconds
    return {"adapter": EVALUATOR, "config": config}


def _skeleton(task: NewTask) -> str:
    return (
        f"{UNWRITTEN}\n\n"
        "Say here what is wrong or wanted, as a user would: what was done, what came of it, what should have come.\n"
        "Say everything that the hidden tests hold a solution to, and name neither them nor the change in the code.\n\n"
        f"{task.hint}\n"
    )


def _yaml(path: Path, name: str, value: Mapping[str, JsonValue], *, version: str = "1.0.0") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    yaml = YAML()
    yaml.width = _WIDE
    text = StringIO()
    yaml.dump({"schema_version": "1.0", "id": name, "version": version, **_readable(value)}, text)
    path.write_text(text.getvalue(), encoding="utf-8")


def _readable(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Texts of several lines as such."""
    return {key: _readable_value(each) for key, each in value.items()}


def _readable_value(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _readable(value)
    # Any other character would not come back from a block as it went in.
    if isinstance(value, str) and "\n" in value and all(char.isprintable() or char == "\n" for char in value):
        block: str = LiteralScalarString(value)
        return block
    return value


def protecting(tests: Collection[str]) -> tuple[str, ...]:
    """Globs of everything that the selectors are in: a folder with all below it, or a file."""
    paths = sorted({selector.partition("::")[0] for selector in tests})
    return tuple(path if path.endswith(".py") else f"{path.rstrip('/')}/**" for path in paths)
