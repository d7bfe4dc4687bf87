"""The sandbox ``docker``: one container of a Docker engine for each process tree."""
