"""The evaluator `reward`: a command of the task's own that writes how good the tree is into a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import PurePosixPath

from akbench.spec import (
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
    Outcome,
)
from akbench_evaluators.config import reject_unknown_keys, require_seconds, text, texts
from akbench_evaluators.process_ending import describe_exit, judge_cut_short, usable_report
from akbench_evaluators.shipment import runner_argv, runner_files
from akbench_evaluators.signed_report import Shapes

__all__ = ["RewardEvaluator"]

_KEYS = ("command", "checks", "place", "reward", "variables", "timeout_seconds")
_RECORDS: Shapes = {
    "started": {},
    "unstartable": {"reason": (str,)},
    "ended": {"exit_code": (int,), "rewards": (dict,)},
}
_REWARD = "reward"
"""The name that counts where a file holds several numbers."""


class RewardEvaluator(Evaluator):
    """Runs the command with the task's check files at a place of their own; the number that it writes is the score."""

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        texts(config, "command", required=True)
        _variables(config)
        _place(config)
        for path in texts(config, "reward", required=True):
            _require_place("reward", str(PurePosixPath(path).parent))
        for name in texts(config, "checks", required=True):
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise InputError(f"evaluator config: 'checks' holds {name!r}; name a file below checks/")

    def check_files(self, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
        """The files that are laid at the place."""
        return texts(config, "checks", required=True)

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the command, below a runner that alone holds the report."""
        rewards = texts(request.config, "reward", required=True)
        settings = {
            "workspace": request.workspace,
            "report_fd": request.report_fd,
            "command": texts(request.config, "command", required=True),
            "reward": rewards,
            "variables": _variables(request.config),
        }
        return EvaluationInvocation(
            argv=runner_argv(request),
            environ=dict(request.environ),
            files=runner_files("reward_runner", "hiding", "signed_report", settings=settings),
            folders={
                **{str(PurePosixPath(path).parent): {} for path in rewards},
                _place(request.config): dict(request.checks),
            },
        )

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the first of the files that the runner found."""
        report = usable_report(evidence, _RECORDS)
        if isinstance(report, Judgement):
            return report
        last = report.records[-1]
        if last["kind"] == "unstartable":
            reason = f"the command could not be started: {last['reason']}"
            return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)
        if last["kind"] != "ended":
            return judge_cut_short(evidence.process)
        places = texts(evidence.request.config, "reward")
        found = [(place, said) for place in places if isinstance(said := last["rewards"].get(place), str)]
        if not found:
            reason = f"the command left no reward ({describe_exit(last['exit_code'])})"
            return Judgement(outcome=Outcome.FAILURE, reason=reason, score=0.0, raw={"exit_code": last["exit_code"]})
        return _rewarded(*found[0], exit_code=last["exit_code"])


def _rewarded(path: str, said: str, *, exit_code: int) -> Judgement:
    name = PurePosixPath(path).name
    numbers = _numbers(said)
    reward = numbers.get(_REWARD) if len(numbers) != 1 else next(iter(numbers.values()))
    if reward is None or not 0 <= reward <= 1:
        reason = f"{name} holds no reward between 0 and 1: {said[:200]!r}"
        return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason, raw={"exit_code": exit_code})
    outcome = Outcome.FULL_SUCCESS if reward == 1 else Outcome.PARTIAL_SUCCESS if reward else Outcome.FAILURE
    raw: dict[str, JsonValue] = {"exit_code": exit_code, "rewards": {**numbers}}
    return Judgement(outcome=outcome, reason=f"the reward is {reward:g} ({name})", score=reward, raw=raw)


def _numbers(said: str) -> dict[str, float]:
    """The named numbers of a JSON object, or a single number; empty where it is neither."""
    try:
        value = json.loads(said, parse_int=float)
    except (ValueError, RecursionError):
        return {}
    named = value if isinstance(value, dict) else {_REWARD: value}
    if not all(type(each) is float and math.isfinite(each) for each in named.values()):
        return {}
    return {str(key): each for key, each in named.items()}


def _place(config: Mapping[str, JsonValue]) -> str:
    place = text(config, "place")
    if place is None:
        raise InputError(
            "evaluator config: 'place' is missing; name the folder inside for the check files, like /tests"
        )
    _require_place("place", place)
    return place


def _require_place(key: str, place: str) -> None:
    path = PurePosixPath(place)
    if not path.is_absolute() or ".." in path.parts or str(path) != place or len(path.parts) < 2:
        raise InputError(
            f"evaluator config: {key!r} leads to {place!r}; write an absolute path below a folder of its own"
        )


def _variables(config: Mapping[str, JsonValue]) -> dict[str, str]:
    value = config.get("variables", {})
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise InputError(f"evaluator config: 'variables' is {value!r}; make it a mapping of names to texts, in quotes")
    return {name: str(each) for name, each in value.items()}
