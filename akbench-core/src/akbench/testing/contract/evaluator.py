"""The contract of evaluators: the tree is judged, never what it says about itself."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar, cast

import pytest

from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.evaluator import EvaluatorDescriptor
from akbench.descriptors.trial import EvaluatorTrial
from akbench.evaluate.evaluation import Evaluation, evaluate
from akbench.experiment.configuration import complete_configuration, configuration_faults
from akbench.spec import (
    EvaluationEvidence,
    Evaluator,
    EvaluatorRecord,
    JsonValue,
    Outcome,
    Sandbox,
    TreeKind,
)
from akbench.testing.contract.agent_stage import environment_with, sandbox_named
from akbench.testing.contract.checks import Described
from akbench.testing.contract.contract import raised_by, refused, wrong_values
from akbench.testing.contract.world import World

__all__ = ["EvaluatorContract"]

SUCCESS = Outcome.FULL_SUCCESS
_FORGERY = """
import os, sys
for number in range(3, 64):
    try:
        os.write(number, {report!r})
    except OSError:
        pass
sys.stdout.write({stdout!r})
sys.stdout.flush()
os._exit(0)
"""
_SLEEP = "\nimport time\ntime.sleep(300)\n"
_BROKEN = "def broken(:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One evaluation and what it rests on."""

    evaluation: Evaluation
    evidence: EvaluationEvidence
    seconds: float

    @property
    def outcome(self) -> object:
        """What was judged."""
        return self.evaluation.judgement.outcome


@dataclass(kw_only=True)
class _Stage:
    """Evaluates trees; each kind once."""

    evaluator: Evaluator
    trial: EvaluatorTrial
    config: Mapping[str, JsonValue]
    world: World
    sandbox: Sandbox
    late_seconds: float
    count: int = field(default=0)

    @cached_property
    def solved(self) -> _Judged:
        """The solved tree."""
        return self._judged(self.trial.solved)

    @cached_property
    def unsolved(self) -> _Judged:
        """The tree that is not solved."""
        return self._judged(self._unsolved)

    @cached_property
    def forged(self) -> _Judged:
        """The unsolved tree, whose code repeats the solved tree's report and output and ends with 0."""
        solved = self.solved
        stdout = solved.evaluation.stdout.read_text(errors="replace")
        return self._judged(self._with_code(_FORGERY.format(report=solved.evidence.report, stdout=stdout)))

    @cached_property
    def late(self) -> _Judged:
        """The unsolved tree, whose code does not end."""
        return self._judged(self._with_code(_SLEEP), {"timeout_seconds": self.late_seconds})

    @cached_property
    def broken(self) -> _Judged:
        """The unsolved tree, whose code is no Python."""
        return self._judged({**self._unsolved, self.trial.code: _BROKEN})

    @property
    def _unsolved(self) -> dict[str, str]:
        return {**self.trial.solved, **self.trial.unsolved}

    def _with_code(self, code: str) -> dict[str, str]:
        files = self._unsolved
        return {**files, self.trial.code: code + files.get(self.trial.code, "")}

    def _judged(self, files: Mapping[str, str], config: Mapping[str, JsonValue] | None = None) -> _Judged:
        self.count += 1
        scratch = self.world.workspaces / f"evaluation-{self.count}"
        scratch.mkdir()
        begun = time.monotonic()
        with self.world.inhabited():
            evaluation = evaluate(
                tree=_tree(files),
                hidden_files=self.trial.hidden,
                evaluator=self.evaluator,
                config={**self.config, **(config or {})},
                environment=environment_with(self.trial.requirements),
                python_path=(".",),
                sandbox=self.sandbox,
                scratch=scratch,
                cancelled=threading.Event(),
                given=_tree(self._unsolved if self.trial.given is None else self.trial.given),
                checks={name: text.encode() for name, text in self.trial.checks.items()},
            )
        assert evaluation.process.start_error is None, evaluation.judgement.reason
        evidence = EvaluationEvidence(request=evaluation.request, process=evaluation.process, report=evaluation.report)
        return _Judged(evaluation=evaluation, evidence=evidence, seconds=time.monotonic() - begun)


def _tree(files: Mapping[str, str]) -> Tree:
    return Tree.of({os.fsencode(name): (FILE, text.encode()) for name, text in files.items()})


class EvaluatorContract(Described):
    """Subclass it with a name that begins with ``Test`` and say in `descriptor` where the evaluator's descriptor lies.

    What it judges is the descriptor's ``trial``. `late_seconds` is the time limit under which a check that does not end
    is stopped.
    """

    record_kind = EvaluatorRecord
    contract_kind = Evaluator
    sandbox: ClassVar[str] = "auto"
    late_seconds: ClassVar[float] = 3.0
    stop_seconds: ClassVar[float] = 30.0

    @pytest.fixture
    def config(self) -> Mapping[str, JsonValue]:
        """Configuration beside the trial's."""
        return {}

    @pytest.fixture
    def stage(self, config: Mapping[str, JsonValue]) -> _Stage:
        """The evaluator on its stage."""
        cls = type(self)
        if cls._stage is None:
            part = cast("EvaluatorDescriptor", self.snapshot().model).evaluator
            trial = part.trial if cls.trial is None else EvaluatorTrial.model_validate(cls.trial)
            if trial is None:
                pytest.fail("the descriptor has no trial: say in evaluator.trial what it can judge", pytrace=False)
            whole = complete_configuration(part.configuration_schema, {**part.config, **trial.config, **config})
            cls._stage = _Stage(
                evaluator=self.built(),
                trial=trial,
                config=whole,
                world=self.world(),
                sandbox=sandbox_named(self.sandbox),
                late_seconds=self.late_seconds,
            )
        return cast("_Stage", cls._stage)

    def test_a_working_configuration_is_accepted(self, stage: _Stage) -> None:
        """The trial's configuration keeps to the schema, and `check_config` takes it."""
        schema = cast("EvaluatorDescriptor", self.snapshot().model).evaluator.configuration_schema
        assert not schema or configuration_faults("the trial", schema, stage.config) == []
        assert raised_by(partial(stage.evaluator.check_config, stage.config)) is None

    def test_a_wrong_configuration_is_refused_with_a_message(self, stage: _Stage) -> None:
        """What the trial calls wrong, and a value of another type, are refused by `check_config` with an
        `InputError`.
        """
        schema = cast("EvaluatorDescriptor", self.snapshot().model).evaluator.configuration_schema
        for wrong in (*({**stage.config, **each} for each in stage.trial.wrong), *wrong_values(schema, stage.config)):
            error = raised_by(partial(stage.evaluator.check_config, wrong))
            assert refused(error), f"{wrong} must be refused with an InputError, not {error!r}"

    def test_what_it_wants_to_see_is_said_in_the_contracts_words(self, stage: _Stage) -> None:
        """`judges` is a `TreeKind`, `needs_given` true or false, and `check_files` names files of the trial's
        ``checks``, the same ones each time.
        """
        judges: object = stage.evaluator.judges
        needs_given: object = stage.evaluator.needs_given
        assert isinstance(judges, TreeKind)
        assert isinstance(needs_given, bool)
        names = stage.evaluator.check_files(stage.config)
        assert names == stage.evaluator.check_files(stage.config)
        assert set(names) <= stage.trial.checks.keys()

    def test_a_solved_tree_succeeds(self, stage: _Stage) -> None:
        """The solved tree is a full success."""
        assert stage.solved.outcome == SUCCESS, stage.solved.evaluation.judgement.reason

    def test_an_unsolved_tree_fails(self, stage: _Stage) -> None:
        """The unsolved tree is a failure, and no fault of evaluator or infrastructure."""
        assert stage.unsolved.outcome in {Outcome.FAILURE, Outcome.REGRESSION, Outcome.PARTIAL_SUCCESS}

    def test_a_forged_report_is_not_believed(self, stage: _Stage) -> None:
        """Code of the unsolved tree writes the solved tree's own report to every descriptor it has, prints what that
        printed and ends with 0: no success.
        """
        assert stage.forged.outcome not in {SUCCESS, Outcome.PARTIAL_SUCCESS}

    def test_a_check_that_does_not_end_is_stopped(self, stage: _Stage) -> None:
        """Code that does not end is no success, and the evaluation ends soon after its time limit. Skipped where the
        evaluator takes no ``timeout_seconds``.
        """
        if raised_by(partial(stage.evaluator.check_config, {**stage.config, "timeout_seconds": self.late_seconds})):
            pytest.skip("the evaluator takes no timeout_seconds")
        assert stage.late.outcome in {Outcome.TIMEOUT, Outcome.FAILURE, Outcome.EVALUATOR_ERROR}
        assert stage.late.seconds < self.late_seconds + self.stop_seconds

    def test_a_broken_tree_is_no_success(self, stage: _Stage) -> None:
        """A tree whose code is no Python is no success, and is judged without an error."""
        assert stage.broken.outcome not in {SUCCESS, Outcome.PARTIAL_SUCCESS}

    def test_a_missing_or_damaged_report_is_no_success(self, stage: _Stage) -> None:
        """No report, half a report, one that was cut and one that is no report at all are judged without an error, and
        are no success even where the process ended with 0.
        """
        evidence = stage.solved.evidence
        damaged = (b"", evidence.report[: len(evidence.report) // 2], b"\xff\x00 no report\n" * 3)
        for report in damaged:
            judgement = stage.evaluator.judge(replace(evidence, report=report))
            assert judgement.outcome != SUCCESS, f"judged by the report {report[:80]!r}"
        cut = replace(evidence, report=evidence.report[:-1], report_truncated=True)
        assert stage.evaluator.judge(cut).outcome != SUCCESS

    def test_a_judgement_is_complete(self, stage: _Stage) -> None:
        """Outcome in the contract's words, a reason, a score in [0, 1] or none, tests with known states."""
        for judged in (stage.solved, stage.unsolved, stage.broken):
            judgement = judged.evaluation.judgement
            outcome: object = judgement.outcome
            assert isinstance(outcome, Outcome)
            assert judgement.reason.strip()
            assert judgement.score is None or 0.0 <= judgement.score <= 1.0
            assert {test.status for test in judgement.tests} <= {"passed", "failed", "error", "skipped", "missing"}

    def test_the_same_tree_is_judged_the_same(self, stage: _Stage) -> None:
        """Judging the same evidence again, also by another instance, gives the same judgement."""
        for judged in (stage.solved, stage.unsolved):
            assert stage.evaluator.judge(judged.evidence).outcome == judged.outcome
            assert cast("Evaluator", self.built()).judge(judged.evidence).outcome == judged.outcome
