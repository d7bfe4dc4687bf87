"""Runs one command inside the evaluation sandbox and reports how it ended; started by `CommandEvaluator`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from akbench_evaluators.hiding import hide_this_process
from akbench_evaluators.signed_report import ReportWriter

__all__ = ["main"]


def main() -> None:
    """Run the command that the settings file, the only argument, describes."""
    settings = json.loads(Path(sys.argv[1]).read_bytes())
    report = ReportWriter(settings["report_fd"])
    hide_this_process()
    report.write("started")
    try:
        ended = subprocess.run(settings["command"], cwd=settings["workspace"], stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        report.write("unstartable", reason=str(error))
    else:
        report.write("ended", exit_code=ended.returncode)
