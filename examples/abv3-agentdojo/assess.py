"""One run: the ground truth of the chosen AgentDojo tasks, scored by AgentDojo's own checks.

No model is asked: AgentDojo's ground-truth pipeline makes the tool calls that solve a task, and the
suite judges the state of its environment afterwards. A data point is one task.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import get_text_content_as_str

if TYPE_CHECKING:
    from agentdojo.base_tasks import BaseInjectionTask, BaseUserTask
    from agentdojo.task_suite.task_suite import TaskSuite

AGENT = {"name": "agentdojo-ground-truth", "version": version("agentdojo")}


class Recorded(GroundTruthPipeline):
    """The ground-truth pipeline, keeping its last conversation for the transcript."""

    def query(self, query: str, *arguments: Any, **more: Any) -> tuple:
        """Answer as AgentDojo does and remember what was said."""
        answer = super().query(query, *arguments, **more)
        self.prompt, self.messages = query, answer[3]
        return answer


def main() -> None:
    """Assess the tasks of the run config and write result and transcripts."""
    config = json.loads(Path(sys.argv[1]).read_text())
    suite = get_suite(config["benchmark_version"], config["suite"])
    every = suite.user_tasks if config["kind"] == "user" else suite.injection_tasks
    names = list(every) if config["tasks"] == "all" else config["tasks"]
    scores = [assess(suite, every[name]) for name in names]
    result = {
        "count": len(scores),
        "main_metric": "success_rate",
        "success_rate": mean([score["success"] for score in scores]),
        "tool_calls": mean([score["tool_calls"] for score in scores]),
        "time_s": sum(score["time_s"] for score in scores),
        "metric_info": {
            "success_rate": {"higher_is_better": True},
            "tool_calls": {"unit": "calls per task"},
            "time_s": {"unit": "s", "higher_is_better": False, "aggregate": "sum"},
        },
        "agent": AGENT,
        "dataset": f"AgentDojo {config['benchmark_version']} {config['suite']}, {config['kind']} tasks",
        "transcripts": [score["transcript"] for score in scores],
        "extra": {"failed": [task for task, score in zip(names, scores, strict=True) if not score["success"]]},
    }
    Path(os.environ["ABV3_RESULT_FILE"]).write_text(json.dumps(result, indent=2))


def assess(suite: TaskSuite, task: BaseUserTask | BaseInjectionTask) -> dict:
    """Solve one task and score it."""
    pipeline = Recorded(task)
    started = time.perf_counter()
    success, _ = suite.run_task_with_pipeline(pipeline, task, injection_task=None, injections={})
    elapsed = time.perf_counter() - started
    steps = steps_of(pipeline)
    name = f"transcripts/{task.ID}.json"
    write_transcript(name, task.ID, steps)
    sys.stdout.write(f"{task.ID}: {'solved' if success else 'not solved'}\n")
    calls = sum(len(step.get("tool_calls", ())) for step in steps)
    return {"success": int(success), "tool_calls": calls, "time_s": elapsed, "transcript": name}


def steps_of(pipeline: Recorded) -> list[dict]:
    """Return the conversation as ATIF steps: a tool call and its answer make one step."""
    steps = [{"source": "user", "message": pipeline.prompt}]
    for message in pipeline.messages:
        if message["role"] == "tool":
            answer = get_text_content_as_str(message["content"])
            call = steps[-1]["tool_calls"][0]["tool_call_id"]
            steps[-1]["observation"] = {"results": [{"source_call_id": call, "content": answer}]}
        else:
            steps.append(agent_step(message, f"call_{len(steps)}"))
    return [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]


def agent_step(message: dict, call_id: str) -> dict:
    """Return an assistant message as a step; no model was called for it."""
    step = {"source": "agent", "message": get_text_content_as_str(message["content"]), "llm_call_count": 0}
    calls = message["tool_calls"] or ()
    if calls:
        arguments = json.loads(json.dumps(dict(calls[0].args), default=str))
        call = {"tool_call_id": call_id, "function_name": calls[0].function, "arguments": arguments}
        step["tool_calls"] = [call]
    return step


def write_transcript(name: str, task: str, steps: list[dict]) -> None:
    """Write one ATIF transcript into the run folder."""
    session = f"{os.environ['ABV3_EXPERIMENT']}/{os.environ['ABV3_RUN']}"
    document = {
        "schema_version": "ATIF-v1.7",
        "session_id": session,
        "trajectory_id": task,
        "agent": AGENT,
        "steps": steps,
        "extra": {"abv3": {"experiment": os.environ["ABV3_EXPERIMENT"], "run": os.environ["ABV3_RUN"]}},
    }
    path = Path(os.environ["ABV3_RUN_DIR"], name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1))


def mean(values: list[int]) -> float:
    """Return the mean; a config selects at least one task."""
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
