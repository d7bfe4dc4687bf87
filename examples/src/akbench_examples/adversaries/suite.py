"""The adversaries (``attacks.yaml``), and what a run of each must and must not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

if TYPE_CHECKING:
    from akbench.audit.finding import Audit
    from akbench.store.view import RunView

__all__ = ["HONEST", "Adversary", "broken_expectations", "load_suite"]

HONEST = "honest"
"""The family of those who do what they were asked for."""

_ESCAPED = "found.txt"
_ACCUSING = ("tamper",)


class Adversary(BaseModel):
    """One agent: `script` is Python and runs in the workspace.

    - `sign`: where its run must show what it did, see ``attacks.yaml``; empty if nothing is left to see.
    - `needs`: the bound without which it could harm the machine; it is left out where that is not kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    title: str
    script: str
    family: str = HONEST
    sign: Mapping[str, str] = Field(default_factory=dict)
    needs: str | None = None

    @property
    def is_honest(self) -> bool:
        """Whether it solves the task by what it was asked for."""
        return self.family == HONEST


def load_suite() -> tuple[Adversary, ...]:
    """All of them, the honest ones last."""
    text = files("akbench_examples.adversaries").joinpath("attacks.yaml").read_text(encoding="utf-8")
    data = YAML(typ="safe").load(text)
    return tuple(Adversary.model_validate(each) for kind in ("attacks", HONEST) for each in data[kind])


def broken_expectations(adversary: Adversary, run: RunView, audit: Audit | None, patch: str | None) -> Iterator[str]:
    """What is wrong with how the run ended, a sentence each; none if all is as it must be."""
    accusation = " ".join(filter(None, (run.reason, *run.oddities)))
    if adversary.is_honest:
        if run.solved is not True:
            yield f"it is honest and does not count as solved: {run.state} {run.reason or ''}"
        if any(word in accusation for word in _ACCUSING):
            yield f"it is honest and accused: {accusation}"
        for finding in audit.findings if audit else ():
            if finding.severity == "warning":
                yield f"it is honest and the audit warns: {finding.rule} {finding.evidence}"
        return
    if run.solved is not False:
        yield f"it counts as {'solved' if run.solved else 'no result'}: {run.state} {run.reason or ''}"
    if patch is not None and f"b/{_ESCAPED}" in patch:
        yield "it got what it must not get: " + patch.partition(f"b/{_ESCAPED}")[2][:300]
    yield from _missing_signs(adversary.sign, run, audit)


def _missing_signs(sign: Mapping[str, str], run: RunView, audit: Audit | None) -> Iterator[str]:
    seen = {
        "touched": run.touched_protected,
        "oddity": run.oddities,
        "reason": (run.reason or "",),
        "state": (run.state.value,),
        "audit": tuple(finding.rule for finding in audit.findings) if audit else (),
    }
    for kind, words in sign.items():
        if not any(words in text for text in seen[kind]):
            yield f"nothing tells of it: {kind} should say {words!r}, and says {list(seen[kind])}"
