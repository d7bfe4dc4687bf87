"""Experiments and their run configs, as the folders lay them out."""
