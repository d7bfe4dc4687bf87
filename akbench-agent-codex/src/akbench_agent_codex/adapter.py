"""The Codex CLI as an agent: how it is started and what its traces mean."""

from __future__ import annotations

from akbench.spec import (
    AgentEvidence,
    AgentOutcome,
    AgentRequest,
    Artifact,
    HostError,
    InputError,
    Invocation,
    Probe,
    ProbeContext,
    Problem,
    ProcessAgent,
)
from akbench_agent_codex.ending import judge_ending
from akbench_agent_codex.observation import Observation
from akbench_agent_codex.program import INSTALL, find_program, sandbox_problem, version
from akbench_agent_codex.rollout import read_rollout
from akbench_agent_codex.session_files import SessionFiles, collect_session_files, read_bounded, read_tail
from akbench_agent_codex.settings import KEY_VARIABLE, Settings, config_toml
from akbench_agent_codex.transcript import read_transcript

__all__ = ["MEASURED_VERSION", "CodexAgent"]

MEASURED_VERSION = "0.171.0"
"""The version on which everything in this distribution was measured."""

MOUNT_NAME = "codex"
STDERR_TAIL = 500


class CodexAgent(ProcessAgent):
    """Runs ``codex exec`` once per task, with an empty CODEX_HOME and the prompt on standard input."""

    def probe(self, context: ProbeContext) -> Probe:
        """Find the native program and its version; where no sandbox bounds the run, try Codex's own."""
        try:
            program = find_program(context.config, context.environ)
            found = version(program)
            own = None if context.bounded else sandbox_problem(program)
        except HostError as error:
            message, _, mend = str(error).partition("; mend: ")
            return Probe(version=None, problems=(Problem(message=message, mend=mend or INSTALL),))
        facts = {
            "installation": program.kind,
            "measured_version": MEASURED_VERSION,
            "own_sandbox": "off" if context.bounded else "workspace-write",
        }
        return Probe(version=found, problems=(own,) if own else (), facts=facts)

    def prepare(self, request: AgentRequest) -> Invocation:
        """The command line and the configuration. Raises `InputError` for a configuration that cannot be used."""
        settings = Settings.read(request.config)
        if request.model is None:
            raise InputError("the agent codex needs a model endpoint: name one under execution.model_endpoint")
        program = find_program(request.config, request.declared)
        mount = request.place(program.root, MOUNT_NAME)
        return Invocation(
            argv=(program.at(mount.inside), *_arguments(request)),
            stdin=request.prompt.encode(),
            environ={"CODEX_HOME": request.state, KEY_VARIABLE: request.model.token},
            files={"config.toml": config_toml(settings, request, request.model)},
            mounts=(mount,),
        )

    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Read what was printed and recorded, however the run ended."""
        printed, whole = read_bounded(evidence.process.stdout)
        sessions = collect_session_files(evidence.state)
        observation = Observation(
            transcript=read_transcript(printed),
            rollouts=tuple(read_rollout(file.content) for file in sessions.files),
            left_out=sessions.left_out,
            printed_whole=whole,
        )
        root = observation.root
        said = read_tail(evidence.process.stderr, STDERR_TAIL).decode(errors="replace").strip()
        ending = judge_ending(evidence.process, observation.transcript, root, said)
        return AgentOutcome(
            status=ending.status,
            reason=ending.reason,
            error_class=ending.error_class,
            session_id=observation.session_id,
            agent_version=root.cli_version if root else None,
            final_message=observation.transcript.final_message,
            usage=observation.usage(),
            config=observation.config(evidence.request),
            trace=observation.trace(),
            tool_calls=observation.tool_calls(),
            artifacts=_artifacts(sessions),
        )


def _arguments(request: AgentRequest) -> tuple[str, ...]:
    """Codex's own sandbox is off only where something else confines it."""
    sandbox = ("--dangerously-bypass-approvals-and-sandbox",) if request.bounded else ("-s", "workspace-write")
    return ("exec", "--json", "--strict-config", "--skip-git-repo-check", *sandbox, "-C", request.workspace, "-")


def _artifacts(sessions: SessionFiles) -> tuple[Artifact, ...]:
    """The session files and the configuration under which they came about."""
    kept = [Artifact(path="config.toml", name="config.toml", media_type="application/toml")]
    for file in sessions.files:
        name = file.path.rpartition("/")[2]
        kept.append(Artifact(path=file.path, name=name, media_type="application/x-ndjson"))
    return tuple(kept)
