"""``akbench doctor``: what this machine has and lacks, and the command that mends it."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import probe_agent
from akbench.cli.output import json_option, print_findings, print_json
from akbench.descriptors.kinds import AgentDescriptor
from akbench.experiment.configuration import complete_configuration, configuration_faults
from akbench.project import cache_folder
from akbench.spec.hooks import AgentRecord
from akbench.verdict import is_untried

__all__ = ["doctor"]

OLDEST_GIT = (2, 36)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at.

    `state` is ok, to configure (an agent that works once an experiment gives it a value), warning (something optional
    is missing) or missing (nothing can run).
    """

    what: str
    state: str
    detail: str
    mend: str = ""


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> None:
    """Say what this machine has and lacks, and how to mend it.

    Exit code 3 if something is missing without which no experiment can run.
    """
    catalogue = Catalogue.load()
    findings = [_python(), _git(), *_sandboxes(catalogue), _cache(), *_agents(catalogue), *_extensions(catalogue)]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_findings((each.state, each.what, each.detail, each.mend) for each in findings)
    ctx.exit(3 if any(finding.state == "missing" for finding in findings) else 0)


def _python() -> Finding:
    return Finding(what="python", state="ok", detail=f"{platform.python_implementation()} {platform.python_version()}")


def _git() -> Finding:
    mend = "install git 2.36 or newer, for instance: apt-get install git"
    if shutil.which("git") is None:
        return Finding(what="git", state="missing", detail="not found on PATH", mend=mend)
    text = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = text.removeprefix("git version ").split(".")[:2]
    recent = all(each.isdigit() for each in numbers) and tuple(map(int, numbers)) >= OLDEST_GIT
    return Finding(what="git", state="ok" if recent else "missing", detail=text, mend="" if recent else mend)


def _sandboxes(catalogue: Catalogue) -> Iterator[Finding]:
    working = 0
    for name in catalogue.sandbox_names():
        _, sandbox = catalogue.sandbox(name)
        probe = sandbox.probe()
        what = f"sandbox {name}"
        if probe.problems:
            detail = "; ".join(problem.message for problem in probe.problems)
            yield Finding(what=what, state="warning", detail=detail, mend=probe.problems[0].mend)
            continue
        working += 1
        facts = ", ".join(f"{key} {value}" for key, value in sorted(probe.facts.items()))
        yield Finding(what=what, state="ok", detail=facts if sandbox.bounded else f"confines nothing; {facts}")
    if not working:
        yield Finding(what="sandboxes", state="missing", detail="none works here", mend="install bubblewrap")


def _cache() -> Finding:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        mend = "make it writable, or set AKBENCH_CACHE to a folder that is"
        return Finding(what="cache", state="missing", detail=f"{folder}: {error.strerror}", mend=mend)
    free = shutil.disk_usage(folder).free // (1 << 20)
    return Finding(what="cache", state="ok", detail=f"{folder} ({free} MiB free)")


def _agents(catalogue: Catalogue) -> Iterator[Finding]:
    for snapshot in catalogue.descriptors("agent"):
        model = snapshot.model
        if not isinstance(model, AgentDescriptor):
            continue
        what = f"agent {model.id}"
        probe = probe_agent(catalogue, model)
        if probe.problems:
            problem = probe.problems[0]
            yield Finding(what=what, state="warning", detail=problem.message, mend=problem.mend)
        else:
            version = probe.version or "version not known"
            yield _working_agent(what, model, version + _untried(catalogue, model))


def _untried(catalogue: Catalogue, model: AgentDescriptor) -> str:
    """What is to be said of an agent that has not passed its contract tests here."""
    adapter = catalogue.registered(AgentRecord, model.agent.adapter)
    if adapter is None or not is_untried(adapter):
        return ""
    return f"; contract not passed here yet: akbench extension check {adapter.distribution}"


def _working_agent(what: str, model: AgentDescriptor, version: str) -> Finding:
    schema = model.agent.configuration_schema
    faults = configuration_faults(f"agent {model.id!r}", schema, complete_configuration(schema, {}))
    needs = "; ".join(message for _, message in faults)
    if not needs:
        return Finding(what=what, state="ok", detail=version)
    mend = "give it in the experiment, below the agent's config"
    return Finding(what=what, state="to configure", detail=f"{version}; {needs}", mend=mend)


def _extensions(catalogue: Catalogue) -> Iterator[Finding]:
    for failure in catalogue.failures:
        mend = f"pip install --upgrade {failure.distribution}, or set AKBENCH_DISABLE={failure.name}"
        detail = f"{failure.distribution} {failure.version} is not usable: {failure.cause}"
        yield Finding(what=f"extension {failure.name}", state="warning", detail=detail, mend=mend)
