"""``akbench run-config``: what the exported repository's ``run.command`` calls."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akbench.cli.experiment import interruptible
from akbench.cli.output import plain
from akbench.run.lifecycle import RunState
from akbench.spec import InputError
from akbench_abv3.completed import (
    REPO_ROOT_VARIABLE,
    RESULT_FILE_VARIABLE,
    TRANSCRIPT,
    TRANSCRIPT_FILE_VARIABLE,
)
from akbench_abv3.stated import DESCRIPTION_FILE, RUN_CONFIG_VARIABLE, RUN_RESULT
from akbench_abv3.writing import json_document, write_atomically

if TYPE_CHECKING:
    from akbench_abv3.exchange.source import StoredRun

__all__ = ["run_config"]

EVIDENCE = "akbench"
"""The folder beside result.json with the run's own files."""


@click.command("run-config")
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False, exists=True), envvar=RUN_CONFIG_VARIABLE)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="AKBENCH_KEEP_DIR",
    show_envvar=True,
    help="Keep the whole record of the run below this folder. It quotes hidden tests: do not publish it.",
)
@click.pass_context
def run_config(ctx: click.Context, config: Path, keep: Path | None) -> None:
    """Carry out the one run that the run config CONFIG of an exported ABV3-L1 repository describes.

    The dataset's folder is named by AKBENCH_DATASET_DIR, a scripted model's file by AKBENCH_MODEL_SCRIPT;
    agentbeats.toml declares both. result.json and, where the agent reports a trace, transcript.json are written where
    abv3 expects them. Requests to a paid model provider are made without asking.

    Exit codes: 0 the run is a data point (also when the agent failed or ran out of time), 1 it says nothing about the
    agent, 2 bad input, 3 environment missing, 130 cancelled.
    """
    # A rerun needs the whole of AK-Bench, which `akbench run-config --help` need not wait for.
    from akbench_abv3.exchange.rerun import Place, rerun

    config = config.resolve()
    place = Place(root=_root(config), config=config, environ=os.environ, keep=keep)
    with interruptible() as cancelled, rerun(place, cancelled) as done:
        ctx.exit(_write(done.run, done.differences, config))


def _root(config: Path) -> Path:
    named = os.environ.get(REPO_ROOT_VARIABLE)
    root = Path(named) if named else config.parents[2]
    if not (root / DESCRIPTION_FILE).is_file():
        raise InputError(f"no {DESCRIPTION_FILE} two folders above the run config", place=str(config))
    return root


def _write(run: StoredRun, differences: tuple[str, ...], config: Path) -> int:
    """Write what the run is worth; returns the exit code."""
    from akbench_abv3.exchange.outcome import run_result
    from akbench_abv3.exchange.trajectory import transcript

    result_file, transcript_file = _targets(config)
    result_file.parent.mkdir(parents=True, exist_ok=True)
    _keep_evidence(run, result_file.parent / EVIDENCE)
    session = f"{config.parent.name}/{config.stem}"
    told = transcript(run, session, hashlib.sha256(config.read_bytes()).hexdigest())
    if told is not None:
        write_atomically(transcript_file, json_document(told))
    for difference in differences:
        click.echo(f"warning: {plain(difference)}", err=True)
    document = run_result(run, differences)
    if document is not None:
        write_atomically(result_file, json_document(document))
    state, reason = run.view.state, run.view.reason or ""
    click.echo(plain(f"{session}: {state.value}, {_verdict(run)}{f' ({reason})' if document is None else ''}"))
    if state is RunState.CANCELLED:
        return 130
    return 0 if document is not None else 1


def _verdict(run: StoredRun) -> str:
    return {True: "solved", False: "not solved", None: "no data point"}[run.view.solved]


def _targets(config: Path) -> tuple[Path, Path]:
    """Where abv3 said; without abv3 the results folder mirrors that of the run configs."""
    folder = config.parents[2] / "results" / config.parent.name / config.stem
    result = os.environ.get(RESULT_FILE_VARIABLE)
    transcript_file = os.environ.get(TRANSCRIPT_FILE_VARIABLE)
    return (
        Path(result) if result else folder / RUN_RESULT,
        Path(transcript_file) if transcript_file else folder / TRANSCRIPT,
    )


def _keep_evidence(run: StoredRun, target: Path) -> None:
    from akbench_abv3.exchange.rerun import KEPT

    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        source = run.folder / name
        if source.is_file():
            shutil.copyfile(source, target / name)
