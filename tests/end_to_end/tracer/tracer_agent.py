"""An agent that fixes the starter task with one shell command and reports its steps, as real agents do."""

from akbench.spec import AgentOutcome, AgentStatus, Invocation, Probe, ProcessAgent, ToolCall, TraceEvent

FIX = r"""sed -i 's/names\[0\]}!"$/names[-1]}!"/' greeting/__init__.py && echo fixed"""


class Tracer(ProcessAgent):
    def probe(self, context):
        return Probe(version="7.1")

    def prepare(self, request):
        program = "/no/such/program" if request.config.get("broken") else "sh"
        return Invocation(argv=(program, "-c", FIX))

    def interpret(self, evidence):
        process = evidence.process
        if process.start_error is not None:
            return AgentOutcome(status=AgentStatus.INFRASTRUCTURE_ERROR, reason=process.start_error)
        call = ToolCall(
            name="shell",
            command=FIX,
            status="completed",
            exit_code=process.exit_code,
            output=process.stdout.read_text(),
            started_at=process.started_at,
            finished_at=process.finished_at,
        )
        trace = (
            TraceEvent(kind="reasoning", text="The last name is wanted.", at=process.started_at),
            TraceEvent(kind="command", text=FIX, at=process.started_at),
            TraceEvent(kind="message", text="Done.", at=process.finished_at),
        )
        return AgentOutcome(status=AgentStatus.COMPLETED, trace=trace, tool_calls=(call,))
