"""``akbench demo``: the example project, written out and run."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import probe_agent, report_failures
from akbench.cli.experiment import confirm_and_run
from akbench.cli.init import write_project
from akbench.pipeline import load_experiment
from akbench.project import Project
from akbench.spec import InputError

__all__ = ["demo", "write_example_project"]

WITH_CODEX = Path("configs/experiments/demo.yaml")
PLANNED_FAILURES = """\
Part of the demo's script, not of Codex: the provider fails on bugfix-003 (low effort) and goes silent on bugfix-002
(high effort); bugfix-004 (low effort) gets a plausible wrong fix that only hidden tests notice."""
WITHOUT_CODEX = Path("configs/experiments/demo-without-codex.yaml")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("akbench-demo"))
@click.pass_context
def demo(ctx: click.Context, folder: Path) -> None:
    """Write the example project into FOLDER (default: akbench-demo) and run its demo experiment.

    The real Codex CLI works against a scripted model, beside the reference solution, an agent that does nothing and a
    one-line shell command. Nothing is sent to a model provider.
    """
    project = write_example_project(folder)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    lack = _codex_lack(catalogue)
    if lack is not None:
        click.echo(f"the Codex CLI cannot take part: {lack}\nrunning the demo without it", err=True)
    path = project.root / (WITH_CODEX if lack is None else WITHOUT_CODEX)
    code = confirm_and_run(load_experiment(project, path, catalogue))
    if code == 1:
        click.echo(PLANNED_FAILURES)
    ctx.exit(code if code > 1 else 0)


def write_example_project(folder: Path) -> Project:
    """The example project in `folder`; files of it that are already there must be unchanged."""
    with as_file(files("akbench_examples").joinpath("project")) as template:
        write_project(folder, template)
    return Project.at(folder)


def _codex_lack(catalogue: Catalogue) -> str | None:
    """Why the Codex CLI cannot run here, or None."""
    try:
        problems = probe_agent(catalogue, catalogue.agent("codex").model).problems
    except InputError as error:
        return str(error)
    return "; ".join(f"{problem.message} ({problem.mend})" for problem in problems) or None
