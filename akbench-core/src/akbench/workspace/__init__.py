"""Workspaces: the repository an agent is given, and the tree it leaves behind."""
