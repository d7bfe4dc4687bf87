"""Metrics of one run, derived from what was observed; a missing value keeps its reason."""
