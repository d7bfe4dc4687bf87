"""Names and values that the published overview of ABV3-L1 states itself."""

from __future__ import annotations

from typing import Final

__all__ = [
    "DEFAULT_EXPERIMENT",
    "DEFAULT_RESULTS_FOLDER",
    "DESCRIPTION_FILE",
    "EXPERIMENT_RESULT",
    "ROLES",
    "RUN_CONFIG_VARIABLE",
    "RUN_RESULT",
    "SECTIONS",
]

DESCRIPTION_FILE: Final = "agentbeats.toml"
SECTIONS: Final = ("abv3_repo", "run", "install", "dependency", "run_configs", "results")
ROLES: Final = ("judge", "subject")
RUN_CONFIG_VARIABLE: Final = "RUN_CONFIG_FILE"
DEFAULT_EXPERIMENT: Final = "default"
DEFAULT_RESULTS_FOLDER: Final = "./results"
RUN_RESULT: Final = "result.json"
EXPERIMENT_RESULT: Final = "results.json"
