"""The adapter of an agent that uses two models for one task."""

import json
from pathlib import Path

from akbench.spec import (
    AgentOutcome,
    AgentStatus,
    Invocation,
    Probe,
    ProcessAgent,
    Reading,
    ToolCall,
    Usage,
)

PROGRAM = Path(__file__).with_name("two_models_program.py")


class TwoModels(ProcessAgent):
    def probe(self, context):
        return Probe(version="1.1")

    def prepare(self, request):
        return Invocation(
            argv=("python3", f"{request.state}/program.py", request.config["planner"], request.config["coder"]),
            stdin=request.prompt.encode(),
            environ={"MODEL_URL": request.model.base_url, "MODEL_TOKEN": request.model.token},
            files={"program.py": PROGRAM.read_bytes()},
        )

    def interpret(self, evidence):
        try:
            told = json.loads(evidence.process.stdout.read_text().splitlines()[-1])
        except (IndexError, ValueError):
            return AgentOutcome(status=AgentStatus.FAILED, reason="it told nothing of its work")
        return AgentOutcome(
            status=AgentStatus.COMPLETED if evidence.process.exit_code == 0 else AgentStatus.FAILED,
            reason=None if evidence.process.exit_code == 0 else f"exit code {evidence.process.exit_code}",
            observed_models=(told["planner"], told["coder"]),
            usage=Usage(input_tokens=Reading(value=told["tokens"], source="the models' answers")),
            tool_calls=(ToolCall(name="shell", command=told["command"], exit_code=evidence.process.exit_code),),
        )
