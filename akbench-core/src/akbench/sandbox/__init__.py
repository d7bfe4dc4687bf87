"""Sandboxes: run one process so that it, and all it starts, ends with the run; and its one way to a model."""
