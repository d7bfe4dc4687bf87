"""The Codex CLI as an agent of AK-Bench."""

__version__ = "0.1.0"
