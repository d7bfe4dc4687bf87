from __future__ import annotations

from akbench.testing.fixtures import scripted_model

__all__ = ["scripted_model"]
