"""How ``ruff check --fix`` is started, and what its traces mean. The core starts it, bounds it and ends it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from akbench.spec import (
    AgentEvidence,
    AgentOutcome,
    AgentRequest,
    AgentStatus,
    HostError,
    InputError,
    Invocation,
    JsonValue,
    Probe,
    ProbeContext,
    Problem,
    ProcessAgent,
)

__all__ = ["RuffAgent"]

PROGRAM = "ruff"
MEND = "pip install ruff, or name the program by the configuration key 'binary'"
OUTPUT_LIMIT = 64 * 1024
"""Bytes of output that are read: a run may print without end."""
RULE = re.compile(r"[A-Z]+[0-9]*")
FOUND_NOTHING_LEFT, SOMETHING_LEFT = 0, 1
"""Ruff's exit codes when it did its work; 2 means that it broke."""


class RuffAgent(ProcessAgent):
    """``ruff check --fix``, one process per task. It reads the code, never the task."""

    def probe(self, context: ProbeContext) -> Probe:
        """Look for the program and ask it for its version."""
        try:
            program = find_program(context.config, context.environ)
            return Probe(version=ask_version(program))
        except (HostError, InputError) as error:
            return Probe(version=None, problems=(Problem(message=str(error), mend=MEND),))

    def prepare(self, request: AgentRequest) -> Invocation:
        """The working directory is the task's repository; ruff's cache goes to the agent's own folder."""
        program = find_program(request.config, request.declared)
        mount = request.place(program.parent, PROGRAM)
        options = ["--fix", "--cache-dir", f"{request.state}/cache", "--select", ",".join(read_rules(request.config))]
        options += ["--unsafe-fixes"] if request.config.get("unsafe_fixes") else []
        options += ["--watch"] if request.config.get("watch") else []
        return Invocation(argv=(f"{mount.inside}/{program.name}", "check", *options, "."), mounts=(mount,))

    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Ruff is done with exit code 0 or 1; whether the task is solved is the evaluator's question."""
        process = evidence.process
        if process.start_error is not None:
            return AgentOutcome(status=AgentStatus.INFRASTRUCTURE_ERROR, reason=process.start_error)
        if process.exit_code in {FOUND_NOTHING_LEFT, SOMETHING_LEFT}:
            return AgentOutcome(status=AgentStatus.COMPLETED, final_message=read_end(process.stdout))
        ending = f"signal {process.signal}" if process.signal else f"exit code {process.exit_code}"
        said = read_end(process.stderr)
        return AgentOutcome(status=AgentStatus.FAILED, reason=f"ruff ended with {ending}{f': {said}' if said else ''}")


def read_rules(config: Mapping[str, JsonValue]) -> list[str]:
    """The rules to apply. Raises `InputError` for what is no list of rule codes or prefixes."""
    rules = config.get("select", ["E", "F"])
    if (
        isinstance(rules, list | tuple)
        and rules
        and all(isinstance(each, str) and RULE.fullmatch(each) for each in rules)
    ):
        return [str(each) for each in rules]
    raise InputError(f"configuration key select: {rules!r} is no list of rule codes such as F401 or E")


def find_program(config: Mapping[str, JsonValue], environ: Mapping[str, str]) -> Path:
    """The program that `config` names, or that PATH offers. Raises `InputError` or `HostError` if there is none."""
    named = config.get("binary")
    found = shutil.which(str(named or PROGRAM), path=environ.get("PATH", ""))
    if found is not None:
        return Path(found).resolve()
    if named:
        raise InputError(f"configuration key binary: no executable {str(named)!r}")
    raise HostError(f"no executable {PROGRAM!r}")


def ask_version(program: Path) -> str:
    """What ``--version`` prints. Raises `HostError` if it prints nothing."""
    words = [str(program), "--version"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise HostError(f"{program} does not tell its version: {error}") from error
    if not done.stdout.strip():
        raise HostError(f"{program} does not tell its version")
    return done.stdout.strip().removeprefix("ruff ")


def read_end(file: Path) -> str | None:
    """The last line of an output, as far as the limit reaches."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - OUTPUT_LIMIT))
        lines = opened.read(OUTPUT_LIMIT).decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else None
