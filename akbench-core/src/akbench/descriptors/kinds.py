"""The eleven kinds of descriptors by name, and the models that other stages use."""

from __future__ import annotations

from akbench.descriptors.agent import AgentDescriptor, AgentReference
from akbench.descriptors.category import CategoryDescriptor
from akbench.descriptors.configuration import ConfigurationKey
from akbench.descriptors.dimension import DimensionDescriptor
from akbench.descriptors.environment import EnvironmentDescriptor
from akbench.descriptors.evaluator import EvaluatorDescriptor
from akbench.descriptors.experiment import (
    ExperimentDescriptor,
    Filters,
    ModelEndpoint,
    PluginReference,
    RuntimeReference,
)
from akbench.descriptors.header import Descriptor
from akbench.descriptors.metric import MetricDescriptor
from akbench.descriptors.model import ModelDescriptor
from akbench.descriptors.plugin import PluginDescriptor
from akbench.descriptors.runtime import RuntimeDescriptor
from akbench.descriptors.task import TaskDescriptor

__all__ = [
    "KINDS",
    "AgentDescriptor",
    "AgentReference",
    "CategoryDescriptor",
    "ConfigurationKey",
    "Descriptor",
    "DimensionDescriptor",
    "EnvironmentDescriptor",
    "EvaluatorDescriptor",
    "ExperimentDescriptor",
    "Filters",
    "MetricDescriptor",
    "ModelDescriptor",
    "ModelEndpoint",
    "PluginDescriptor",
    "PluginReference",
    "RuntimeDescriptor",
    "RuntimeReference",
    "TaskDescriptor",
]

KINDS: dict[str, type[Descriptor]] = {
    "agent": AgentDescriptor,
    "runtime": RuntimeDescriptor,
    "plugin": PluginDescriptor,
    "model": ModelDescriptor,
    "category": CategoryDescriptor,
    "task": TaskDescriptor,
    "evaluator": EvaluatorDescriptor,
    "experiment": ExperimentDescriptor,
    "dimension": DimensionDescriptor,
    "metric": MetricDescriptor,
    "environment": EnvironmentDescriptor,
}
"""Kind -> model. A descriptor's kind is the name of its section."""
