"""The docker sandbox keeps to the contract."""

import pytest

from akbench.testing import SandboxContract

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]


class TestDocker(SandboxContract):
    sandbox_id = "docker"
