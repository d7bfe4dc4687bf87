"""The table of finding codes: what each means and whether the overview states the rule.

Codes are stable: a code is never given another meaning, and one that falls out of use stays free.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["CODES", "Code", "Mark"]


class Mark(StrEnum):
    """Where a rule comes from."""

    STATED = "stated"
    COMPLETED = "completed"
    BOTH = "stated, completed in detail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What a code means and how its finding is mended."""

    code: str
    title: str
    mend: str
    mark: Mark


def _code(code: str, title: str, mend: str, mark: Mark = Mark.COMPLETED) -> Code:
    return Code(code=code, title=title, mend=mend, mark=mark)


_S, _B = Mark.STATED, Mark.BOTH

_ALL = (
    _code("E001", "there is no agentbeats.toml", "create one (abv3 init), or name the root with -C DIR", _S),
    _code("E002", "agentbeats.toml cannot be read as TOML", "write TOML 1.0 in UTF-8, at most 1 MiB", _B),
    _code("E004", "a path leaves the repository", "use a path below the root; no link may lead out of it"),
    _code("E010", "the section [abv3_repo] is missing", "add [abv3_repo] with name, role and author", _S),
    _code("E011", "name is missing or malformed", "use letters, digits, . _ - (at most 100)", _B),
    _code("E012", "role is neither judge nor subject", 'write role = "judge" or role = "subject"', _S),
    _code("E013", "author is missing or empty", 'write author = "who maintains this"', _S),
    _code(
        "E014",
        "there is no usable version",
        'write version = "1.0.0", or tag a commit v1.0.0 and leave it out',
        _B,
    ),
    _code("E015", "logo_file names nothing usable", "name an http(s) URL or an image file in the repository", _B),
    _code("E016", "tags is not a list of non-empty strings", 'write tags = ["coding", "tools"]', _B),
    _code("E020", "the run command is missing or malformed", 'add [run] with command = "…"', _S),
    _code("E021", "run.timeout_seconds is not a positive number", "give seconds, as 3600"),
    _code("E030", "the install command is malformed", 'write command = "uv sync"', _B),
    _code("E031", "install.timeout_seconds is not a positive number", "give seconds, as 600"),
    _code(
        "E040",
        "a dependency has the wrong form",
        "write [dependency.<name>] as a table; small letters, digits and _ in the name",
        _B,
    ),
    _code("E041", "required is not a boolean", "write required = true or required = false", _S),
    _code("E042", "description is not a string", "write one line of text"),
    _code(
        "E043",
        "a dependency is not recognised",
        'give type = "env" and env = "NAME", or use a recognised name',
        _B,
    ),
    _code("E044", "env names no usable environment variable", 'write env = "MY_KEY" (capitals, digits, _)'),
    _code("E045", "secret is not a boolean", "write secret = true or secret = false"),
    _code("E046", "a step's command or check is missing or malformed", 'give type = "step" and command = "…"'),
    _code("E047", "a credential value stands in agentbeats.toml", "remove it; abv3 setup asks for the value"),
    _code("E050", "run_configs.folder names no directory", "create the folder, or remove [run_configs]", _S),
    _code("E051", "default_exp names no experiment", "name an existing experiment folder", _B),
    _code(
        "E052",
        "something in the run-configs folder is not an experiment",
        "put config files inside an experiment folder named with letters, digits, . _ -",
        _B,
    ),
    _code(
        "E053",
        "an experiment has no run config",
        "add a .json, .toml, .yaml or .yml file, or remove the folder",
        _S,
    ),
    _code("E054", "a run config cannot be read", "mend the file at the place given", _B),
    _code("E055", "two run configs would share a result folder", "give them different names", _B),
    _code("E057", "a run config's file name cannot be used", "rename it with printable characters"),
    _code(
        "E060",
        "the results folder cannot be used",
        "choose a folder inside the root, apart from the run configs",
        _B,
    ),
    _code(
        "R001",
        "a result is not a JSON object",
        "write one JSON object in UTF-8, without NaN or doubled keys",
        _S,
    ),
    _code("R002", "count is not a non-negative integer, or beyond all reason", 'write "count": 100', _S),
    _code("R003", "main_metric names no metric of the file", "name a metric that is in the file", _S),
    _code("R004", "the main metric is not a finite number", "write a number", _S),
    _code("R005", "a metric is not a finite number or null", "write a number, or null for unknown"),
    _code("R006", "metric_info is malformed", "per metric: unit, higher_is_better, aggregate"),
    _code("R007", "status or runs is malformed", 'status is "complete" or "partial"; runs has four counts'),
    _code("R008", "coverage is malformed", "per metric: the number of data points that had it"),
    _code("R009", "runs disagree about a metric", "let all runs of an experiment name the same main metric"),
    _code("T000", "L1+t cannot be shown: no results", "run an experiment first (abv3 run_exp)"),
    _code("T001", "a run has no transcript, or no valid result", "write transcript.json beside result.json", _B),
    _code("T002", "a transcript is not valid ATIF", "mend the file at the place given"),
    _code("T003", "a transcript contains a secret value", "remove it and revoke the credential"),
    _code("W003", "an unknown key", "remove it if it is a slip; it is ignored"),
    _code("W014", "the version comes from a tag that is no semantic version", "tag a commit v1.0.0"),
    _code("W015", "there is no logo_file", "add one for a nicer index"),
    _code("W016", "a tag is listed twice", "remove one"),
    _code(
        "W022",
        "the run command never mentions RUN_CONFIG_FILE",
        'pass "$RUN_CONFIG_FILE", or read it in the program',
    ),
    _code("W023", "$RUN_CONFIG_FILE is unquoted and the path has blanks", 'write "$RUN_CONFIG_FILE" in quotes'),
    _code("W043", "a dependency is not recognised (allowed)", 'give type = "env" and env = "NAME"'),
    _code("W051", "there is no experiment named default", "set default_exp, or name the experiment when running"),
    _code("W053", "something in an experiment folder is not a run config", "it is ignored"),
    _code("W054", "a run config is not a mapping", "most programs expect one"),
    _code("W056", "a run config contains what looks like a credential", "declare a dependency instead"),
    _code("W070", "a run left a secret value in its folder", "remove it and revoke the credential"),
    _code("W080", "fewer transcripts than data points", "list one transcript for each data point"),
    _code(
        "W081",
        "a transcript does not say which task or run it records",
        "start with a user step; set session_id",
    ),
    _code("W008", "a rate is outside 0 to 1", "write 0.85, not 85"),
)

CODES: Final[dict[str, Code]] = {code.code: code for code in _ALL}
