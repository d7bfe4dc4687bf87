"""Evaluators for AK-Bench: independent checks of a finished tree."""
