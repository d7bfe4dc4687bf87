"""``akbench dataset mutate``: bug-fix tasks by controlled mutations."""

from __future__ import annotations

import click

__all__ = ["mutate"]


@click.command()
def mutate() -> None:
    """Make bug-fix tasks by controlled mutations."""
    raise click.ClickException("not built yet")
