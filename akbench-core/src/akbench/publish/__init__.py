"""What a task must show before anyone is measured on it."""
