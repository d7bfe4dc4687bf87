"""Reading foreign files: bounded, inside the root, and never with a traceback."""
