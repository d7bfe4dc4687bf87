"""What an evaluator implements: describe a check of a finished tree, judge what the check reported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from akbench.spec.measure import JsonValue
from akbench.spec.process import ProcessEvidence

__all__ = [
    "EvaluationEvidence",
    "EvaluationInvocation",
    "EvaluationRequest",
    "Evaluator",
    "Judgement",
    "Outcome",
    "TestResult",
    "TestRole",
    "TreeKind",
]


class Outcome(StrEnum):
    """What an evaluation says about a tree."""

    FULL_SUCCESS = "full_success"
    PARTIAL_SUCCESS = "partial_success"
    FAILURE = "failure"
    REGRESSION = "regression"
    TIMEOUT = "timeout"
    EVALUATOR_ERROR = "evaluator_error"
    INFRASTRUCTURE_ERROR = "infrastructure_error"


class TestRole(StrEnum):
    """`TARGET` tests fail on the unsolved tree and pass on a solved one; `REGRESSION` tests pass on both."""

    __test__ = False  # for pytest: no test class, whatever its name

    TARGET = "target"
    REGRESSION = "regression"


class TreeKind(StrEnum):
    """Which tree an evaluator judges.

    `RESTORED`: the agent's, with the protected files put back and the hidden tests laid over it; what runs code of the
    tree judges this one. `FINAL`: the agent's exactly as it was left; what looks at the work itself judges this one.
    """

    RESTORED = "restored"
    FINAL = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """One test: its id, its role, `status` in passed, failed, error, skipped or missing; `message` for people."""

    __test__: ClassVar[bool] = False  # for pytest: no test class, whatever its name

    id: str
    role: TestRole
    status: str
    duration_seconds: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """A tree to judge. All paths are paths inside the evaluation sandbox.

    - `workspace`: the tree that the evaluator's `judges` names; the check may change it.
    - `given`: the tree that the agent was given, read-only; None unless the evaluator `needs_given`.
    - `tools`: the directory in which `EvaluationInvocation.files` will lie, read-only.
    - `python`: the interpreter of the task's prepared environment; empty for an image without one, which only an
      evaluator meets that does not need it.
    - `runner`: the words that start a Python with the standard library alone, where that is another one; empty where
      `python` is the only one.
    - `hidden_files`: the hidden test files in the workspace, relative to it.
    - `checks`: the files of the task's ``checks`` folder by name; they lie nowhere inside the sandbox.
    - `report_fd`: the number of the inherited file descriptor to which the check writes its report.
    - `config`: the evaluator's configuration from the task's ``evaluator.yaml``.
    - `quarantined`: ids of tests that the task's validation found flaky; their results count for nothing.
    """

    workspace: str
    tools: str
    tmp: str
    python: str
    hidden_files: tuple[str, ...]
    environ: Mapping[str, str]
    report_fd: int
    timeout_seconds: float
    config: Mapping[str, JsonValue]
    quarantined: tuple[str, ...] = ()
    given: str | None = None
    checks: Mapping[str, bytes] = field(default_factory=dict)
    runner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationInvocation:
    """How to run the check. `environ` replaces the request's; `files` (name -> content) lie in the tools directory.

    `files` can be read by everything that runs inside; `stdin`, once it has been read, only by who read it. `folders`
    are further ones, by their absolute path inside, each with its files (relative name -> content; what begins with
    ``#!`` can be started); the check may write into them. Not every sandbox can show them.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    folders: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationEvidence:
    """What the check left: its process and the bytes it wrote to the report descriptor (cut at `report_limit`)."""

    request: EvaluationRequest
    process: ProcessEvidence
    report: bytes
    report_truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An evaluator's verdict. `score` lies in [0, 1] or is None; `reason` is one sentence; `raw` is kept as is."""

    outcome: Outcome
    reason: str
    score: float | None = None
    tests: tuple[TestResult, ...] = ()
    raw: Mapping[str, JsonValue] = field(default_factory=dict)


class Evaluator(ABC):
    """Judges a tree independently of what the agent says about it. Built without arguments, keeps no state."""

    judges: ClassVar[TreeKind] = TreeKind.RESTORED
    """Which tree it finds in its workspace."""
    needs_given: ClassVar[bool] = False
    """Whether it compares with the tree that the agent was given."""
    needs_python: ClassVar[bool] = False
    """Whether the task's environment must have a Python."""
    needs_packages: ClassVar[tuple[str, ...]] = ()
    """The packages that this Python must have, by their names on the index, in lower case."""

    @abstractmethod
    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""

    @abstractmethod
    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the check."""

    @abstractmethod
    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the report alone; what the check printed and its exit code are not evidence of success."""

    def check_files(self, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
        """The files of the task's ``checks`` folder that this configuration needs; none, as here, by default."""
        del config
        return ()

    def with_roles(
        self, config: Mapping[str, JsonValue], target: Collection[str], regression: Collection[str]
    ) -> Mapping[str, JsonValue] | None:
        """`config` changed so that exactly these test ids are target and regression tests.

        None, as here, from an evaluator that knows no single tests.
        """
        del config, target, regression
        return None
