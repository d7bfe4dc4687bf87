"""The evaluator `static-analysis`: what an analysis tool finds in the final tree and did not find in the given one."""

from __future__ import annotations

from collections import Counter, defaultdict
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
from akbench_evaluators.config import count, flag, reject_unknown_keys, require_seconds, text, texts
from akbench_evaluators.findings import FORMATS, SUPPRESSION
from akbench_evaluators.process_ending import judge_cut_short, usable_report
from akbench_evaluators.shipment import runner_argv, runner_files
from akbench_evaluators.signed_report import Shapes

__all__ = ["CONFIGURATION", "StaticAnalysis", "new_findings"]

CONFIGURATION = (
    ".bandit",
    ".clang-tidy",
    ".clippy.toml",
    ".editorconfig",
    ".eslintignore",
    ".eslintrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yaml",
    ".eslintrc.yml",
    ".flake8",
    ".gitignore",
    ".golangci.json",
    ".golangci.toml",
    ".golangci.yaml",
    ".golangci.yml",
    ".ignore",
    ".isort.cfg",
    ".mypy.ini",
    ".pycodestyle",
    ".pydocstyle",
    ".pydocstyle.ini",
    ".pylintrc",
    ".pylintrc.toml",
    ".pyre_configuration",
    ".rgignore",
    ".ruff.toml",
    ".semgrep.yml",
    ".semgrepignore",
    "biome.json",
    "biome.jsonc",
    "clippy.toml",
    "eslint.config.cjs",
    "eslint.config.cts",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.mts",
    "eslint.config.ts",
    "jsconfig.json",
    "mypy.ini",
    "pylintrc",
    "pylintrc.toml",
    "pyproject.toml",
    "pyrefly.toml",
    "pyrightconfig.json",
    "ruff.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
    "ty.toml",
)
"""Names of files that configure analysis tools; wherever they lie, they are those of the given tree."""
_TOOLS = ("ruff", "mypy", "command")
_KEYS = (
    "tool",
    "command",
    "format",
    "paths",
    "options",
    "configuration",
    "max_new",
    "zero_at",
    "count_suppressions",
    "silent_exit_codes",
    "timeout_seconds",
)
_LISTED = 200
_WHOLE = (0, 1)
"""The exit codes of ruff and mypy when they came to the end; with 2 what they found may be all or the first thing."""
_RECORDS: Shapes = {
    "started": {},
    "configuration": {"restored": (list,)},
    "finding": {
        "tree": (str,),
        "rule": (str,),
        "file": (str,),
        "line": (int,),
        "message": (str,),
        "text": (str,),
    },
    "analysed": {"tree": (str,), "problem": (str, type(None)), "left_out": (int,)},
    "ended": {},
}
_STEERING = ("PYTHONPATH", "MYPYPATH", "RUFF_CONFIG", "MYPY_CONFIG_FILE_DIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """How a tool is started: `command` without the interpreter, if `is_module`, and the format of its output."""

    command: tuple[str, ...]
    form: str
    is_module: bool

    @classmethod
    def of(cls, config: Mapping[str, JsonValue]) -> Tool:
        """Read the configuration. Raises `InputError` with the key and the mend."""
        name = text(config, "tool")
        if name not in _TOOLS:
            raise InputError(f"evaluator config: 'tool' is {name!r}; use one of {', '.join(_TOOLS)}")
        paths, options = _paths(config), texts(config, "options")
        for path in paths:
            if path.startswith(("/", "-")) or ".." in path.split("/"):
                raise InputError(f"evaluator config: 'paths' holds {path!r}; write it relative to the repository")
        if name == "command":
            return _own_command(config)
        for key in ("command", "format", "silent_exit_codes"):
            if key in config:
                raise InputError(f"evaluator config: {key!r} is only for 'tool: command'; remove it")
        if name == "ruff":
            ruff = ("ruff", "check", "--output-format=json", "--no-cache", "--no-fix", "--no-respect-gitignore")
            return cls(command=(*ruff, *options, *paths), form="json", is_module=True)
        mypy = ("mypy", "--output=json", "--cache-dir=/dev/null", "--no-error-summary", "--no-incremental")
        return cls(command=(*mypy, *options, *paths), form="json", is_module=True)

    def argv(self, python: str) -> tuple[str, ...]:
        """The command line, isolated from modules of the tree."""
        return (python, "-I", "-B", "-m", *self.command) if self.is_module else self.command


def _paths(config: Mapping[str, JsonValue]) -> tuple[str, ...]:
    return texts(config, "paths") or (".",)


def _own_command(config: Mapping[str, JsonValue]) -> Tool:
    form = text(config, "format")
    if form not in FORMATS:
        raise InputError(f"evaluator config: 'format' is {form!r}; use one of {', '.join(FORMATS)}")
    for key in ("paths", "options"):
        if key in config:
            raise InputError(f"evaluator config: {key!r} is not for 'tool: command'; write it into 'command'")
    return Tool(command=texts(config, "command", required=True), form=form, is_module=False)


class StaticAnalysis(Evaluator):
    """Runs one tool on both trees; what it found before is nobody's fault."""

    judges: ClassVar[TreeKind] = TreeKind.FINAL
    needs_given: ClassVar[bool] = True

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        Tool.of(config)
        _silent_exit_codes(config)
        flag(config, "count_suppressions", default=True)
        for name in texts(config, "configuration"):
            if "/" in name:
                raise InputError(f"evaluator config: 'configuration' holds {name!r}; give file names without a folder")
        most, zero = _bounds(config)
        if zero <= most:
            raise InputError(f"evaluator config: 'zero_at' is {zero}; make it larger than 'max_new' ({most})")

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the tool, from the task's environment."""
        tool = Tool.of(request.config)
        settings = {
            "workspace": request.workspace,
            "given": request.given,
            "tmp": request.tmp,
            "report_fd": request.report_fd,
            "command": tool.argv(request.python),
            "format": tool.form,
            "paths": list(_paths(request.config)),
            "whole_exit_codes": _WHOLE if tool.is_module else [],
            "silent_exit_codes": [0] if tool.is_module else _silent_exit_codes(request.config),
            "configuration": [*CONFIGURATION, *texts(request.config, "configuration")],
        }
        return EvaluationInvocation(
            argv=runner_argv(request),
            environ=_environ(request.environ),
            files=runner_files("analysis_runner", "findings", "hiding", "signed_report", settings=settings),
        )

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the findings in both trees."""
        report = usable_report(evidence, _RECORDS)
        if isinstance(report, Judgement):
            return report
        if evidence.report_truncated:
            return _too_much(report.records)
        if report.records[-1]["kind"] != "ended":
            return judge_cut_short(evidence.process)
        return _judged(evidence.request.config, report.records)


def _mend(config: Mapping[str, JsonValue], problem: str) -> str:
    """What to do about a tool that is not there; nothing for any other problem."""
    missing = f"No module named {config['tool']}" in problem
    return f"; write {config['tool']}==VERSION into the requirements of task.yaml" if missing else ""


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what configures tools, and so that ``python -m TOOL`` takes no module of the tree for the tool's own."""
    return {name: value for name, value in environ.items() if name not in _STEERING} | {"PYTHONSAFEPATH": "1"}


def _too_much(records: Iterable[Mapping[str, Any]]) -> Judgement:
    """The verdict on a report that was cut: the agent's fault if that of the given tree is whole."""
    if any(record["kind"] == "analysed" for record in records):
        reason = "the tool finds more in the final tree than the harness keeps, and did not in the given one"
        return Judgement(outcome=Outcome.FAILURE, reason=reason, score=0.0)
    reason = "the tool finds too much in the tree that was given; name fewer paths"
    return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)


def _judged(config: Mapping[str, JsonValue], records: Iterable[Mapping[str, Any]]) -> Judgement:
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        kinds[record["kind"], record.get("tree", "")].append(record)
    (given,), (final,) = kinds["analysed", "given"], kinds["analysed", "final"]
    if given["problem"] is not None:
        reason = f"the tool cannot analyse the tree that was given: {given['problem']}{_mend(config, given['problem'])}"
        return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)
    if given["left_out"]:
        reason = "the tool finds too much in the tree that was given; name fewer paths"
        return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)
    restored = kinds["configuration", ""][0]["restored"]
    if final["problem"] is not None:
        reason = f"the tool can analyse the given tree and not this one: {final['problem']}"
        return Judgement(outcome=Outcome.FAILURE, reason=reason, score=0.0, raw={"restored_configuration": restored})
    before, after = kinds["finding", "given"], kinds["finding", "final"]
    new = new_findings(before, after)
    counted = [each for each in new if each["rule"] != SUPPRESSION or flag(config, "count_suppressions", default=True)]
    outcome, reason, score = _verdict(config, counted, more=final["left_out"])
    raw: dict[str, JsonValue] = {
        "before": len(before),
        "after": len(after) + final["left_out"],
        "new": len(counted) + final["left_out"],
        "new_suppressions": sum(each["rule"] == SUPPRESSION for each in new),
        "restored_configuration": restored,
        "findings": [_told(each) for each in new[:_LISTED]],
    }
    return Judgement(outcome=outcome, reason=reason, score=score, raw=raw)


def new_findings(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The findings of `after` that `before` has no counterpart for.

    Counterparts have the same rule and the same text of the line in the same file, each used once; what is left is
    matched without the file, so that a file that was moved brings nothing new.
    """
    old = list(before)
    unmatched, unused = _matched(old, list(after), ("rule", "file", "text"))
    kept = {each["file"] for each in after}
    return _matched([each for each in unused if each["file"] not in kept], unmatched, ("rule", "text"))[0]


def _matched(
    old: list[Mapping[str, Any]], new: list[Mapping[str, Any]], keys: tuple[str, ...]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Those of `new` without a counterpart, and those of `old` that were none's."""
    free = Counter(tuple(each[key] for key in keys) for each in old)
    unmatched = []
    for each in new:
        key = tuple(each[key] for key in keys)
        if free[key]:
            free[key] -= 1
        else:
            unmatched.append(each)
    unused = []
    for each in old:
        key = tuple(each[key] for key in keys)
        if free[key]:
            free[key] -= 1
            unused.append(each)
    return unmatched, unused


def _verdict(config: Mapping[str, JsonValue], new: list[Mapping[str, Any]], *, more: int) -> tuple[Outcome, str, float]:
    most, zero = _bounds(config)
    number = len(new) + more
    if number <= most:
        return Outcome.FULL_SUCCESS, f"{number} new findings, {most} are allowed", 1.0
    first = new[0]
    where = f"{first['file']}:{first['line']}: {first['rule']}: {first['message'].strip()[:200]}"
    reason = f"{number} new findings, {most} are allowed; {where}"
    score = max(0.0, (zero - number) / (zero - most))
    return Outcome.PARTIAL_SUCCESS if score else Outcome.FAILURE, reason, score


def _told(finding: Mapping[str, Any]) -> JsonValue:
    return {key: finding[key] for key in ("rule", "file", "line", "message", "text")}


def _bounds(config: Mapping[str, JsonValue]) -> tuple[int, int]:
    """New findings that are allowed, and how many of them score 0."""
    most = count(config, "max_new") or 0
    zero = count(config, "zero_at")
    return most, most + 1 if zero is None else zero


def _silent_exit_codes(config: Mapping[str, JsonValue]) -> list[int]:
    value = config.get("silent_exit_codes", [0])
    if isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        return [each for each in value if isinstance(each, int)]
    raise InputError(f"evaluator config: 'silent_exit_codes' is {value!r}; make it a list of exit codes like [0]")
