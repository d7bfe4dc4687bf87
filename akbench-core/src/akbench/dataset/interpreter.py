"""The Python interpreters of this machine, asked what they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from akbench.spec import HostError

__all__ = ["Interpreter", "find_interpreter"]

_QUESTION = """
import json, platform, sys, sysconfig
print(json.dumps({
    "executable": getattr(sys, "_base_executable", sys.executable),
    "implementation": sys.implementation.name,
    "version": platform.python_version(),
    "release": "%d.%d" % sys.version_info[:2],
    "platform": sysconfig.get_platform(),
    "base_prefix": sys.base_prefix,
}))
"""
_PATIENCE_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """An interpreter that is no virtual environment's: `version` is 3.12.1, its `release` 3.12."""

    executable: Path
    implementation: str
    version: str
    release: str
    platform: str
    base_prefix: Path


@cache
def find_interpreter(release: str) -> Interpreter:
    """An interpreter of `release` (``3.12``): the one that runs this if it fits, otherwise ``python3.12`` on the PATH.

    Raises `HostError` that says what was tried.
    """
    tried = []
    for candidate in dict.fromkeys(_candidates(release)):
        answer = _ask(candidate)
        if isinstance(answer, Interpreter) and answer.release == release:
            return answer
        tried.append(f"{candidate} ({answer.version if isinstance(answer, Interpreter) else answer})")
    raise HostError(
        f"no Python {release} here; install it so that python{release} is on the PATH. Tried: {', '.join(tried)}"
    )


def _candidates(release: str) -> Iterator[str]:
    yield sys.executable
    found = shutil.which(f"python{release}")
    if found:
        yield found


def _ask(executable: str) -> Interpreter | str:
    """What the interpreter is, or why it does not say: a version manager's stand-in may name no real one."""
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _QUESTION], capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=True
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return f"does not run: {type(error).__name__}"
    return Interpreter(**{**found, "executable": Path(found["executable"]), "base_prefix": Path(found["base_prefix"])})
