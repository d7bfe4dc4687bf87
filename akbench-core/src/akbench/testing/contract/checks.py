"""Contract tests that hold for every kind of adapter with a descriptor."""

from __future__ import annotations

import pytest

from akbench.descriptors.snapshot import canonical_hash
from akbench.spec import Probe, Support
from akbench.testing.contract.contract import Contract
from akbench.testing.hook_imports import hook_imports

__all__ = ["Described", "check_probe"]


class Described(Contract):
    """The tests of the descriptor and of the registration."""

    def test_the_descriptor_says_the_same_twice(self) -> None:
        """The descriptor can be read, and reading it again gives the same hash."""
        first, again = self.snapshot(), self.read_descriptor()
        assert canonical_hash(first.document.data) == canonical_hash(again.document.data)

    def test_the_hooks_are_light_and_say_the_same_twice(self) -> None:
        """The hook module imports `akbench.spec` alone, and registers the same each time. Skipped for an adapter that
        is not installed.
        """
        extension = self.extension()
        if extension is None:
            pytest.skip("the adapter is not installed as an extension")
        targets = [record.target for record in extension.records if hasattr(record, "target")]
        assert hook_imports(extension.module.partition(":")[0], targets).faults() == ()
        again = self.extension()
        assert again is not None
        assert again.records == extension.records


def check_probe(probe: object) -> None:
    """What holds for the probe of every kind."""
    assert isinstance(probe, Probe)
    assert probe.version is None or probe.version.strip()
    assert all(isinstance(support, Support) for support in probe.capabilities.values())
    assert all(problem.message.strip() and problem.mend.strip() for problem in probe.problems)
