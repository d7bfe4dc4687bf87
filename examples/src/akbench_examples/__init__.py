"""The example project of AK-Bench: datasets, a scripted model, configurations, as a folder to read or to copy."""

from __future__ import annotations

from pathlib import Path

__all__ = ["project_folder"]


def project_folder() -> Path:
    """The example project as it was installed. Copy it before running it: runs write below the project's folder."""
    return Path(__file__).with_name("project")
