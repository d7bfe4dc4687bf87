"""``ruff check --fix`` as an agent of AK-Bench."""
