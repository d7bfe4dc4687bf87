"""Runs one command inside the evaluation sandbox and reports what it wrote as reward; started by `RewardEvaluator`."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

from akbench_evaluators.hiding import hide_this_process
from akbench_evaluators.signed_report import ReportWriter

__all__ = ["main"]

_MOST_BYTES = 65_536


def main() -> None:
    """Run the command that the settings file, the only argument, describes."""
    settings = json.loads(Path(sys.argv[1]).read_bytes())
    report = ReportWriter(settings["report_fd"])
    hide_this_process()
    report.write("started")
    environ = {**os.environ, **settings["variables"]}
    try:
        ended = subprocess.run(
            settings["command"], cwd=settings["workspace"], stdin=subprocess.DEVNULL, env=environ, check=False
        )
    except OSError as error:
        report.write("unstartable", reason=str(error))
    else:
        report.write("ended", exit_code=ended.returncode, rewards=_rewards(settings["reward"]))


def _rewards(places: list[str]) -> dict[str, str]:
    """The text of each of the files that is there: tested code may have put anything else in its place."""
    found: dict[str, str] = {}
    for place in places:
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:  # not there, or a link
            continue
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                found[place] = os.read(descriptor, _MOST_BYTES).decode(errors="replace")
        finally:
            os.close(descriptor)
    return found
