"""Three agents that need no model: the reference solution, nothing at all, and any command line."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from akbench import __version__
from akbench.spec import (
    AgentEvidence,
    AgentOutcome,
    AgentRequest,
    AgentStatus,
    InputError,
    Invocation,
    JsonValue,
    Mount,
    Probe,
    ProbeContext,
    Problem,
    ProcessAgent,
    ProcessEvidence,
)

__all__ = ["Command", "DoNothing", "ReferenceSolution"]

PROMPT_FILE = "prompt.txt"
PLACEHOLDER = re.compile(r"\{([a-z_]+(?::[A-Za-z0-9._-]+)?)\}")


class ReferenceSolution(ProcessAgent):
    """Applies the task's reference solution with ``git apply``."""

    def probe(self, context: ProbeContext) -> Probe:
        """Needs git to apply the patch."""
        del context
        git = _program_version(["git", "--version"], mend="install git")
        return Probe(version=__version__, problems=git.problems, facts={"git": git.version})

    def prepare(self, request: AgentRequest) -> Invocation:
        """The patch goes in by standard input. Raises `InputError` where the task brings no solution."""
        if request.reference_patch is None:
            raise InputError("the task has no reference solution to apply")
        return Invocation(argv=("git", "apply", "--whitespace=nowarn", "-"), stdin=request.reference_patch)

    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Completed when git applied the patch."""
        return _outcome(evidence.process, (0,))


class DoNothing(ProcessAgent):
    """Ends at once."""

    def probe(self, context: ProbeContext) -> Probe:
        """There is nothing to be missing."""
        del context
        return Probe(version=__version__)

    def prepare(self, request: AgentRequest) -> Invocation:
        """Runs ``true``."""
        del request
        return Invocation(argv=("true",))

    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Completed when ``true`` ran."""
        return _outcome(evidence.process, (0,))


class Command(ProcessAgent):
    """Any command line, by the template in the configuration."""

    def probe(self, context: ProbeContext) -> Probe:
        """Runs the configured version command, if there is one, on the host."""
        programs = _programs(context.config)
        missing = [path for path in programs.values() if not path.exists()]
        if missing:
            mend = "install it, or correct `programs` in the agent's configuration"
            return Probe(version=None, problems=(Problem(message=f"{missing[0]} does not exist", mend=mend),))
        words = _words(context.config.get("version_command"), "version_command")
        if not words:
            return Probe(version=None)
        local = [_fill(word, {f"program:{name}": str(path) for name, path in programs.items()}) for word in words]
        return _program_version(local, mend="install it, or correct `version_command`")

    def prepare(self, request: AgentRequest) -> Invocation:
        """Fill the template. Raises `InputError` for a placeholder that means nothing."""
        mounts = {name: request.place(path, name) for name, path in _programs(request.config).items()}
        values = _values(request, mounts)
        words = _words(request.config.get("command"), "command")
        if not words:
            raise InputError("agent configuration: command is empty; give the words of a command line")
        environ = request.config.get("environment") or {}
        if not isinstance(environ, dict):
            raise InputError("agent configuration: environment must map names to values")
        return Invocation(
            argv=tuple(_fill(word, values) for word in words),
            stdin=request.prompt.encode(),
            environ={name: _fill(str(value), values) for name, value in environ.items()},
            files={PROMPT_FILE: request.prompt.encode()},
            mounts=tuple(mounts.values()),
        )

    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """The exit code is the command's only statement; what it did is for the evaluator to say."""
        codes = evidence.request.config.get("success_exit_codes")
        accepted = tuple(code for code in codes if isinstance(code, int)) if isinstance(codes, list | tuple) else (0,)
        return _outcome(evidence.process, accepted)


def _outcome(process: ProcessEvidence, accepted: tuple[int, ...]) -> AgentOutcome:
    """The template's words say how the command was started, which the manifest records; they are no settings of it."""
    if process.exit_code in accepted:
        return AgentOutcome(status=AgentStatus.COMPLETED)
    ending = f"signal {process.signal}" if process.signal else f"exit code {process.exit_code}"
    return AgentOutcome(status=AgentStatus.FAILED, reason=f"the command ended with {ending}")


def _values(request: AgentRequest, mounts: Mapping[str, Mount]) -> dict[str, str]:
    values = {
        "prompt": request.prompt,
        "prompt_file": f"{request.state}/{PROMPT_FILE}",
        "workspace": request.workspace,
        "state": request.state,
        "timeout_seconds": f"{request.timeout_seconds:g}",
    }
    if request.model is not None:
        values |= {"model_base_url": request.model.base_url, "model_token": request.model.token}
    return values | {f"program:{name}": mount.inside for name, mount in mounts.items()}


def _fill(template: str, values: Mapping[str, str]) -> str:
    """Replace {placeholders} in one pass, so that braces in a value are never read as a placeholder."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise InputError(f"agent configuration: {match[0]} means nothing here; known: {', '.join(sorted(values))}")
        return values[match[1]]

    return PLACEHOLDER.sub(value, template)


def _words(value: JsonValue, key: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        raise InputError(f"agent configuration: {key} must be a list of words (strings)")
    return tuple(str(word) for word in value)


def _programs(config: Mapping[str, JsonValue]) -> dict[str, Path]:
    value = config.get("programs") or {}
    if not isinstance(value, dict) or not all(isinstance(path, str) for path in value.values()):
        raise InputError("agent configuration: programs must map names to folders of this host")
    return {name: Path(str(path)).expanduser() for name, path in value.items()}


def _program_version(words: list[str], *, mend: str) -> Probe:
    if shutil.which(words[0]) is None:
        return Probe(version=None, problems=(Problem(message=f"program {words[0]!r} not found", mend=mend),))
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        return Probe(version=None, problems=(Problem(message=f"{' '.join(words)} failed: {error}", mend=mend),))
    lines = (done.stdout or done.stderr).strip().splitlines()
    return Probe(version=lines[0] if lines else None)
