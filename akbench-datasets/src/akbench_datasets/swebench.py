"""SWE-bench-style instances."""
