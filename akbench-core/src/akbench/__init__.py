"""AK-Bench: repeatable evaluation of coding agents on real git repositories."""

__version__ = "0.1.0"
