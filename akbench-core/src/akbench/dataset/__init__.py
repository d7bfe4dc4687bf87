"""Datasets: tasks on real repositories, where their trees come from, and the environments they need."""
