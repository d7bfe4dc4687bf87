"""Pytest fixtures of the kit: ``from akbench.testing.fixtures import scripted_model`` in a conftest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from akbench.testing.script import parse_scripts
from akbench.testing.scripted_model import ScriptedModel

__all__ = ["scripted_model"]


@pytest.fixture
def scripted_model() -> Iterator[Callable[[str], ScriptedModel]]:
    """Start a scripted model from the text of its YAML; it stops with the test."""
    with ExitStack() as running:

        def start(script: str) -> ScriptedModel:
            return running.enter_context(ScriptedModel(parse_scripts(script, source="script.yaml")))

        yield start
