from collections.abc import Iterator

import pytest

from akbench_sandbox_docker.sandbox import DockerSandbox
from akbench_sandbox_docker.testing import Engine, NoEngineError, private_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """An engine of our own, for all tests; skips visibly where none can be started."""
    try:
        with private_engine() as started:
            yield started
    except NoEngineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def docker(engine: Engine) -> DockerSandbox:
    """The sandbox at that engine, its image made."""
    sandbox = DockerSandbox()
    assert sandbox.probe().problems == ()
    return sandbox
