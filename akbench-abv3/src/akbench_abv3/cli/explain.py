"""`abv3 explain`."""

from __future__ import annotations

import click

from akbench_abv3.codes import CODES


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Say what a finding code means and how to mend it; without CODE, list them all."""
    if code is None:
        for one in CODES.values():
            click.echo(f"{one.code}  {one.title}")
        return
    known = CODES.get(code.upper())
    if known is None:
        raise click.UsageError(f"there is no code {code}; abv3 explain lists them all")
    click.echo(f"{known.code}  {known.title}\nMend:  {known.mend}\nRule:  {known.mark}")
