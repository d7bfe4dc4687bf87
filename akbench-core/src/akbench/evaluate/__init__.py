"""Independent evaluation of a finished tree, in a fresh workspace that the agent never saw."""
