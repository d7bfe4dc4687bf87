"""From an experiment descriptor to the plan of its runs."""
