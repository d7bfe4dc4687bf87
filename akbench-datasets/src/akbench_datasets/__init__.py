"""Importers of public task sets: each reads the user's own checkout and copies nothing into AK-Bench."""
