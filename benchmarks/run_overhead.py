"""What a run costs beside the agent and the tests: runs of the noop agent, read from their own events.

usage: python benchmarks/run_overhead.py [RUNS [ENVIRONMENT]]

Writes the starter project into a temporary folder, runs the noop agent RUNS times (default 20), one at a time, in
ENVIRONMENT (default auto), and prints per stage the median and the range of the wall clock, and the CPU time of the
harness per run.
"""

import contextlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path

AKBENCH = Path(sys.executable).with_name("akbench")
EXPERIMENT = """\
schema_version: "1.0"
id: overhead
version: "1.0.0"
experiment:
  type: configuration
  agent: {{id: noop}}
  dataset: {{id: starter, version: "1.0.0"}}
  execution_policy: {{repetitions: {runs}}}
  isolation: {{environment: {environment}}}
  evaluation: {{evaluators: [pytest]}}
  reporting: {{generate_html: false}}
"""


def stages(folder: Path) -> dict[str, float]:
    """Seconds from each state of a run to the next, and from the first to the last."""
    lines = (folder / "events.jsonl").read_text().splitlines()
    events = [
        (event["state"], datetime.fromisoformat(event["at"])) for event in map(json.loads, lines) if event["state"]
    ]
    spans = {state: (later - at).total_seconds() for (state, at), (_, later) in itertools.pairwise(events)}
    return spans | {"whole run": (events[-1][1] - events[0][1]).total_seconds()}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    environment = sys.argv[2] if len(sys.argv) > 2 else "auto"
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        subprocess.run([AKBENCH, "init"], cwd=project, check=True, stdout=subprocess.DEVNULL)
        (project / "configs/experiments/overhead.yaml").write_text(
            EXPERIMENT.format(runs=runs, environment=environment)
        )
        run = [AKBENCH, "experiment", "run", "configs/experiments/overhead.yaml"]
        (project / "configs/experiments/warm.yaml").write_text(EXPERIMENT.format(runs=1, environment=environment))
        subprocess.run([*run[:-1], "configs/experiments/warm.yaml"], cwd=project, check=True, stdout=subprocess.DEVNULL)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(run, cwd=project, check=True, stdout=subprocess.DEVNULL)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
        spans = defaultdict(list)
        for each in sorted((project / "data/artifacts/exp-0002").glob("run-*")):
            for stage, seconds in stages(each).items():
                spans[stage].append(seconds)
    with contextlib.suppress(OSError):
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {runs} runs of the noop agent")
    print(f"{'stage':20} {'median ms':>10} {'min ms':>8} {'max ms':>8}")
    for stage, seconds in spans.items():
        median, least, most = (1000 * each for each in (statistics.median(seconds), min(seconds), max(seconds)))
        print(f"{stage:20} {median:10.0f} {least:8.0f} {most:8.0f}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"whole command: {wall:.1f} s wall, {cpu:.1f} s CPU, {cpu / runs:.2f} s CPU per run, sandboxed tests included"
    )


if __name__ == "__main__":
    main()
