"""``akbench dataset mine``: tasks from a repository's own history."""

from __future__ import annotations

import click

__all__ = ["mine"]


@click.command()
def mine() -> None:
    """Make tasks from a repository's own history."""
    raise click.ClickException("not built yet")
