"""The evaluator `diff`: how much an agent changed, where, and what it left lying about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from akbench.spec import (
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
    Outcome,
    TreeKind,
)
from akbench_evaluators.config import count, flag, reject_unknown_keys, require_seconds, texts
from akbench_evaluators.path_globs import matches_any
from akbench_evaluators.process_ending import judge_cut_short, usable_report
from akbench_evaluators.shipment import runner_argv, runner_files
from akbench_evaluators.signed_report import Shapes

__all__ = ["NOISE", "DiffEvaluator"]

NOISE = (
    "**/__pycache__/**",
    "**/*.pyc",
    "**/*.pyo",
    "**/*.egg-info/**",
    "**/.pytest_cache/**",
    "**/.coverage",
    "build/**",
    "dist/**",
    "**/*.orig",
    "**/*.rej",
    "**/*.bak",
    "**/*.swp",
    "**/*.swo",
    "**/*~",
    "**/.DS_Store",
    "**/Thumbs.db",
    "**/nohup.out",
)
"""What programs and editors leave behind; a file that was given is never noise."""
_BOUNDS = ("max_files", "max_lines", "max_bytes")
_GLOBS = ("allow", "forbid", "noise", "uncounted")
_FLAGS = ("forbid_noise", "allow_binary", "allow_mode_changes", "allow_empty")
_KEYS = (*_BOUNDS, *_GLOBS, *_FLAGS, "timeout_seconds")
_TOLERANCE = 2.0
"""The multiple of a bound at which the score reaches 0."""
_LISTED = 200
_RECORDS: Shapes = {
    "started": {},
    "change": {
        "path": (str,),
        "change": (str,),
        "binary": (bool,),
        "made_executable": (bool,),
        "made_plain": (bool,),
        "lines_added": (int,),
        "lines_removed": (int,),
        "bytes": (int,),
    },
    "ended": {"files": (int,)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a task allows. Bounds that are None hold nothing back; an empty `allow` allows every path."""

    bounds: Mapping[str, int | None]
    allow: tuple[str, ...]
    forbid: tuple[str, ...]
    noise: tuple[str, ...]
    uncounted: tuple[str, ...]
    allow_binary: bool
    allow_mode_changes: bool
    allow_empty: bool

    @classmethod
    def of(cls, config: Mapping[str, JsonValue]) -> Rules:
        """Read the configuration. Raises `InputError` with the key and the mend."""
        noise = texts(config, "noise") if "noise" in config else NOISE
        return cls(
            bounds={name: count(config, name, least=1) for name in _BOUNDS},
            allow=texts(config, "allow"),
            forbid=texts(config, "forbid"),
            noise=noise if flag(config, "forbid_noise", default=True) else (),
            uncounted=texts(config, "uncounted"),
            allow_binary=flag(config, "allow_binary", default=True),
            allow_mode_changes=flag(config, "allow_mode_changes", default=True),
            allow_empty=flag(config, "allow_empty", default=False),
        )

    def violations(self, changes: Iterable[Mapping[str, Any]]) -> list[str]:
        """What must not be, one phrase each."""
        return [phrase for change in changes for phrase in self._of_change(change)]

    def _of_change(self, change: Mapping[str, Any]) -> list[str]:
        path, found = change["path"], []
        if change["change"] == "added" and matches_any(path, self.noise):
            found.append(f"{path} is generated noise")
        elif matches_any(path, self.forbid):
            found.append(f"{path} must not be changed")
        elif self.allow and not matches_any(path, self.allow):
            found.append(f"{path} is not among the paths that may be changed")
        if change["binary"] and change["change"] != "removed" and not self.allow_binary:
            found.append(f"{path} is binary")
        if (change["made_executable"] or change["made_plain"]) and not self.allow_mode_changes:
            found.append(f"{path} was made {'executable' if change['made_executable'] else 'a plain file'}")
        return found


class DiffEvaluator(Evaluator):
    """Compares the tree as the agent left it with the one it was given."""

    judges: ClassVar[TreeKind] = TreeKind.FINAL
    needs_given: ClassVar[bool] = True

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        for key in _GLOBS:
            for glob in texts(config, key):
                if glob.startswith("/") or ".." in glob.split("/"):
                    raise InputError(f"evaluator config: {key!r} holds {glob!r}; write it relative to the repository")
        Rules.of(config)

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to compare the trees."""
        settings = {"workspace": request.workspace, "given": request.given, "report_fd": request.report_fd}
        files = runner_files("diff_runner", "signed_report", settings=settings)
        return EvaluationInvocation(argv=runner_argv(request), environ=dict(request.environ), files=files)

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from what the comparison found."""
        report = usable_report(evidence, _RECORDS)
        if isinstance(report, Judgement):
            return report
        if evidence.report_truncated:
            return _too_much("the list of changed files is longer than the harness keeps")
        if report.records[-1]["kind"] != "ended":
            return judge_cut_short(evidence.process)
        changes = [record for record in report.records if record["kind"] == "change"]
        files = report.records[-1]["files"]
        if files > len(changes):
            return _too_much(f"{files} files changed, of which only {len(changes)} were looked at")
        return _judged(Rules.of(evidence.request.config), changes)


def _too_much(reason: str) -> Judgement:
    """The verdict on changes that cannot all be seen: whatever must not be could be among the rest."""
    return Judgement(outcome=Outcome.FAILURE, reason=reason, score=0.0)


def _judged(rules: Rules, changes: list[dict[str, Any]]) -> Judgement:
    counted = [change for change in changes if not matches_any(change["path"], rules.uncounted)]
    sizes = {
        "max_files": len(counted),
        "max_lines": sum(change["lines_added"] + change["lines_removed"] for change in counted),
        "max_bytes": sum(change["bytes"] for change in counted),
    }
    violations = rules.violations(changes)
    outcome, reason, score = _verdict(rules, sizes, violations, empty=not changes)
    return Judgement(outcome=outcome, reason=reason, score=score, raw=_raw(changes, sizes, violations))


def _verdict(
    rules: Rules, sizes: Mapping[str, int], violations: list[str], *, empty: bool
) -> tuple[Outcome, str, float]:
    if violations:
        more = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
        return Outcome.FAILURE, f"{violations[0]}{more}", 0.0
    if empty and not rules.allow_empty:
        return Outcome.FAILURE, "nothing was changed", 0.0
    over = {
        f"{sizes[name]} {name.removeprefix('max_')} changed, {bound} are allowed": sizes[name] / bound
        for name, bound in rules.bounds.items()
        if bound is not None and sizes[name] > bound
    }
    said = f"{sizes['max_files']} files and {sizes['max_lines']} lines changed"
    if not over:
        return Outcome.FULL_SUCCESS, said, 1.0
    score = max(0.0, _TOLERANCE - max(over.values()))
    return Outcome.PARTIAL_SUCCESS if score else Outcome.FAILURE, "; ".join(over), score


def _raw(changes: list[dict[str, Any]], sizes: Mapping[str, int], violations: list[str]) -> dict[str, JsonValue]:
    return {
        "files": sizes["max_files"],
        "lines": sizes["max_lines"],
        "bytes": sizes["max_bytes"],
        "lines_added": sum(change["lines_added"] for change in changes),
        "lines_removed": sum(change["lines_removed"] for change in changes),
        "binaries": [change["path"] for change in changes if change["binary"]][:_LISTED],
        "made_executable": [change["path"] for change in changes if change["made_executable"]][:_LISTED],
        "changes": {change["path"]: change["change"] for change in changes[:_LISTED]},
        "violations": [*violations[:_LISTED]],
    }
