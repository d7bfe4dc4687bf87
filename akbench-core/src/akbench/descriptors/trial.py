"""What the contract tests need in order to try an adapter on the machine where it is installed."""

from __future__ import annotations

from pydantic import Field

from akbench.descriptors.header import Part
from akbench.descriptors.scalars import Identifier, RelativePath
from akbench.spec import JsonValue

__all__ = ["AgentTrial", "EvaluatorTrial", "PluginTrial", "RuntimeTrial", "TrialResult", "TrialTask"]

type Values = dict[Identifier, JsonValue]


class TrialResult(Part):
    """What the finished work leaves in the workspace."""

    path: RelativePath
    """The file."""
    contains: str = "{word}"
    """A text in it; {word} stands for a word that is new for each session and that only the prompt tells."""


class TrialTask(Part):
    """A task for the contract tests. {word} in texts stands for a word that is new for each session."""

    prompt: str = "Write the word {word} into the file result.txt and end."
    """What the agent is told."""
    config: Values = Field(default_factory=dict)
    """Configuration for this task beside the trial's."""
    result: TrialResult | None = None
    """What shows that the task was done; none if the agent does not do what it is told."""
    model: tuple[dict[str, JsonValue], ...] | None = None
    """The steps of a scripted model (run, patch, say, fail) for an agent that asks one; none if it asks none."""


class AgentTrial(Part):
    """How the contract tests try an agent."""

    config: Values = Field(default_factory=dict)
    """A configuration that works."""
    wrong: tuple[Values, ...] = ()
    """Values that the schema allows and the adapter refuses, each laid over the working configuration."""
    task: TrialTask = Field(default_factory=TrialTask)
    """A task of a few seconds."""
    slow_task: TrialTask | None = None
    """A task that takes minutes: it is stopped by the time limit, and cancelled."""
    failing_task: TrialTask | None = None
    """A task that the agent cannot do; needed only where AK-Bench does not start the agent itself."""


class RuntimeTrial(Part):
    """How the contract tests try a runtime."""

    config: Values = Field(default_factory=dict)
    """A configuration that works."""
    other_config: Values = Field(default_factory=dict)
    """Values of a second instance that differ from the first."""
    wrong: tuple[Values, ...] = ()
    """Values that the schema allows and the adapter refuses, each laid over the working configuration."""
    verified: tuple[Identifier, ...] = ()
    """The configuration keys that a running instance tells."""


class PluginTrial(Part):
    """How the contract tests try a plugin."""

    config: Values = Field(default_factory=dict)
    """A configuration that works."""
    wrong: tuple[Values, ...] = ()
    """Values that the schema allows and the adapter refuses, each laid over the working configuration."""


class EvaluatorTrial(Part):
    """How the contract tests try an evaluator."""

    config: Values = Field(default_factory=dict)
    """A configuration that works, with a time limit of a few seconds."""
    wrong: tuple[Values, ...] = ()
    """Values that the adapter refuses, each laid over the working configuration."""
    solved: dict[RelativePath, str]
    """The files of a tree that is solved, hidden ones included."""
    unsolved: dict[RelativePath, str]
    """The files that differ in the tree that is not solved."""
    code: RelativePath
    """A Python file of the tree that the check runs or imports, and the agent could have written."""
    given: dict[RelativePath, str] | None = None
    """The tree that the agent was given, for an evaluator that compares with it; the unsolved tree if not said."""
    hidden: tuple[RelativePath, ...] = ()
    """The hidden tests among the files."""
    checks: dict[RelativePath, str] = Field(default_factory=dict)
    """The files of the task's checks folder."""
    requirements: tuple[str, ...] = ()
    """What the check needs installed, name==version, the whole closure."""
