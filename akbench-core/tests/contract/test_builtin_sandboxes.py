"""The core's own sandboxes keep to the contract."""

import pytest

from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.sandbox.local import LocalSandbox
from akbench.testing import SandboxContract


class TestLocal(SandboxContract):
    adapter = LocalSandbox


@pytest.mark.bubblewrap
class TestBubblewrap(SandboxContract):
    adapter = BubblewrapSandbox
