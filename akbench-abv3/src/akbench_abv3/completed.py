"""Every name and value that this implementation completes, because no public page states it.

The overview of ABV3-L1 refers to companion pages (fields, llm_access, run_config, result_format,
transcript) that are not public. What they would say is decided here and nowhere else, so that one
module changes if they appear. What the overview states itself is in `akbench_abv3.stated`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

MIB: Final = 1024 * 1024

# --- agentbeats.toml -------------------------------------------------------------------------

MAX_DESCRIPTION_BYTES: Final = 1 * MIB
MAX_CONFIG_BYTES: Final = 10 * MIB
MAX_RESULT_BYTES: Final = 10 * MIB
MAX_TRANSCRIPT_BYTES: Final = 256 * MIB
MAX_NESTING: Final = 100
"""Levels of lists and mappings in JSON and in a YAML run config."""
MAX_COUNT: Final = 2**63 - 1
"""Data points and runs that a result may claim; more is no number of anything, and a sum must still be printable."""
MAX_JSON_COMMAS: Final = 2_000_000
MAX_TRANSCRIPT_COMMAS: Final = 10_000_000
"""Bounds of the values that a JSON text may hold, told by its commas: an empty list of two bytes takes 64 in memory."""
MAX_EXPANDED_NODES: Final = 1_000_000
"""Values that a YAML run config may stand for once its aliases are followed."""
MAX_FOLDER_ENTRIES: Final = 100_000
"""Entries of one folder that are looked at."""

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
DEPENDENCY_PATTERN: Final = r"^[a-z][a-z0-9_]*$"
VARIABLE_PATTERN: Final = r"^[A-Z][A-Z0-9_]*$"
FORBIDDEN_VARIABLES: Final = ("PATH", "HOME", "SHELL", "PYTHONPATH", "IFS", "RUN_CONFIG_FILE")
FORBIDDEN_VARIABLE_PREFIXES: Final = ("LD_", "DYLD_", "ABV3_")
LOGO_SUFFIXES: Final = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif")
MAX_TAGS: Final = 50
CONFIG_SUFFIXES: Final = (".json", ".toml", ".yaml", ".yml")
FORBIDDEN_DEPENDENCY_KEYS: Final = ("value", "default")
DEFAULT_RUN: Final = "default"
"""The run's name where a repository has no run configs."""


class Kind(StrEnum):
    """How a dependency is given to a run; the last two only for names recognised below."""

    ENV = "env"
    FILE = "file"
    DIR = "dir"
    DOCKER = "docker"
    STEP = "step"
    LOGIN = "login"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A dependency name with a fixed meaning.

    `variables` must be given, `optional_variables` may be; `secret` lists those of both that are
    hidden. A login is satisfied by one of its `variables`, or by the file `login_file` in the
    folder named by `login_home_variable` (default `~/<login_home>`).
    """

    kind: Kind
    variables: tuple[str, ...] = ()
    optional_variables: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    login_home_variable: str = ""
    login_home: str = ""
    login_file: str = ""
    advice: str = ""


def _api_key(variable: str, *optional: str) -> Recognised:
    return Recognised(kind=Kind.ENV, variables=(variable,), optional_variables=optional, secret=(variable,))


RECOGNISED: Final[dict[str, Recognised]] = {
    "openai_api_key": _api_key("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic_api_key": _api_key("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini_api_key": _api_key("GEMINI_API_KEY"),
    "google_api_key": _api_key("GOOGLE_API_KEY"),
    "openrouter_api_key": _api_key("OPENROUTER_API_KEY"),
    "litellm": Recognised(
        kind=Kind.ENV,
        variables=("LITELLM_PROXY_API_KEY", "LITELLM_PROXY_API_BASE"),
        secret=("LITELLM_PROXY_API_KEY",),
    ),
    "hf_token": _api_key("HF_TOKEN"),
    "github_token": _api_key("GITHUB_TOKEN"),
    "codex_login": Recognised(
        kind=Kind.LOGIN,
        login_home_variable="CODEX_HOME",
        login_home=".codex",
        login_file="auth.json",
        advice="log in first: codex login",
    ),
    "claude_login": Recognised(
        kind=Kind.LOGIN,
        variables=("CLAUDE_CODE_OAUTH_TOKEN",),
        secret=("CLAUDE_CODE_OAUTH_TOKEN",),
        login_home_variable="CLAUDE_CONFIG_DIR",
        login_home=".claude",
        login_file=".credentials.json",
        advice="log in first: run claude and use /login, or give a token of claude setup-token",
    ),
    "docker_sock": Recognised(kind=Kind.DOCKER, advice="start Docker, or set DOCKER_HOST"),
}
STATED_DEPENDENCIES: Final = ("openai_api_key", "docker_sock")
"""The two recognised names that the overview itself uses."""

DOCKER_VARIABLE: Final = "DOCKER_HOST"
DOCKER_SOCKET: Final = "/var/run/docker.sock"
DOCKER_TIMEOUT_SECONDS: Final = 10.0

KEY_SHAPES: Final = (
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}",
    r"\bAKIA[0-9A-Z]{16}\b",
)
"""Texts that look like a credential in a run config."""

# --- a run -----------------------------------------------------------------------------------

REPO_ROOT_VARIABLE: Final = "ABV3_REPO_ROOT"
EXPERIMENT_VARIABLE: Final = "ABV3_EXPERIMENT"
RUN_VARIABLE: Final = "ABV3_RUN"
RUN_DIR_VARIABLE: Final = "ABV3_RUN_DIR"
RESULT_FILE_VARIABLE: Final = "ABV3_RESULT_FILE"
TRANSCRIPT_FILE_VARIABLE: Final = "ABV3_TRANSCRIPT_FILE"
EXPERIMENT_RESULT_FILE_VARIABLE: Final = "ABV3_EXPERIMENT_RESULT_FILE"
RESUME_VARIABLE: Final = "ABV3_RESUME"

TRANSCRIPT: Final = "transcript.json"
STDOUT_LOG: Final = "stdout.log"
STDERR_LOG: Final = "stderr.log"
RUN_RECORD: Final = "abv3_run.json"
EXPERIMENT_RECORD: Final = "abv3_exp.json"
LOCK_FILE: Final = ".abv3.lock"
OLD_RESULTS_FOLDER: Final = ".old"
EARLIER_ATTEMPTS_FOLDER: Final = ".abv3_attempts"
RECORD_SCHEMA_VERSION: Final = "1.0"

KILL_AFTER_SECONDS: Final = 15.0
"""Between the polite signal and SIGKILL."""
LEFTOVER_GRACE_SECONDS: Final = 2.0
"""For processes that a finished run left behind, before SIGKILL."""
MASK: Final = "***"
SHORTEST_MASKED_BYTES: Final = 4
"""Shorter secret values are not masked: hiding every `1` would make a log unreadable."""


class RunStatus(StrEnum):
    """How a run ended. Only `FINISHED` has a result that counts."""

    FINISHED = "finished"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NO_RESULT = "no_result"
    INVALID_RESULT = "invalid_result"
    INTERRUPTED = "interrupted"
    NOT_RUN = "not_run"


# --- results ---------------------------------------------------------------------------------

RESERVED_RESULT_FIELDS: Final = (
    "count",
    "main_metric",
    "metric_info",
    "status",
    "runs",
    "coverage",
    "experiment",
    "agent",
    "dataset",
    "error",
    "transcripts",
    "started_at",
    "finished_at",
    "schema_version",
    "extra",
)
"""Top-level fields of a result that are never metrics."""
RATE_SUFFIXES: Final = ("_rate", "_accuracy")
RATE_NAMES: Final = ("accuracy",)


class Aggregate(StrEnum):
    """How the values of several runs become the experiment's value of a metric."""

    MEAN = "mean"
    SUM = "sum"
    MAX = "max"
    MIN = "min"
    NONE = "none"


ATIF_VERSIONS: Final = tuple(f"ATIF-v1.{minor}" for minor in range(9))

# --- the command -----------------------------------------------------------------------------


class ExitCode(IntEnum):
    """What `abv3` says to the shell."""

    OK = 0
    FAILED = 1
    USAGE = 2
    BAD_DESCRIPTION = 3
    DEPENDENCY_MISSING = 4
    LOCKED = 5
    INTERRUPTED = 130
    TERMINATED = 143


STORE_FILE: Final = "credentials.toml"
CONFIG_FOLDER: Final = "abv3"
KEYRING_SERVICE: Final = "abv3"
STORE_VARIABLE: Final = "ABV3_STORE"
"""Names the credential store (`file` or `keyring`) where no option does."""
ENV_FILE: Final = ".env"
INDEX_DEPTH: Final = 3
"""Folder levels below a given one that `abv3 index` looks into."""
MAX_GIT_COMMITS: Final = 20_000
"""Commits looked at when searching for the nearest tag."""
MAX_HASHED_BYTES: Final = 64 * MIB
"""A larger tracked file whose time changed counts as changed without being read."""
GIT_TIMEOUT_SECONDS: Final = 30.0
GIT_MEMORY_BYTES: Final = 8 * 1024 * MIB
"""Bounds of the process that reads a `.git` folder; pack files are mapped into its memory."""
