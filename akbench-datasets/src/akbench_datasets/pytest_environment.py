"""The environment that the tests of small Python exercises need: pytest and what it needs, pinned."""

from __future__ import annotations

__all__ = ["PYTEST", "PYTHON"]

PYTHON = "3.12"
PYTEST = ("iniconfig==2.3.0", "packaging==26.0", "pluggy==1.6.0", "pygments==2.19.2", "pytest==9.2.0")
