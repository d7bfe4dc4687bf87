"""Running an experiment: each run config in turn, supervised, recorded and judged."""
