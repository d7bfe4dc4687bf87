"""The command line: ``python -m pocketledger COMMAND FILE``."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

from pocketledger.balance import balances
from pocketledger.errors import LedgerError
from pocketledger.journal import Journal
from pocketledger.query import Query
from pocketledger.reader import read_date, read_journal
from pocketledger.writer import write_journal


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, or 1 with one line on standard error."""
    arguments = _parser().parse_args(argv)
    try:
        journal = read_journal(Path(arguments.file).read_text(encoding="utf-8"))
    except (LedgerError, OSError) as error:
        print(f"pocketledger: {arguments.file}: {error}", file=sys.stderr)
        return 1
    arguments.command(journal, arguments)
    return 0


def _balance(journal: Journal, arguments: argparse.Namespace) -> None:
    query = Query(since=arguments.since, until=arguments.until, account=arguments.account)
    totals = balances(query.select(journal.transactions), depth=arguments.depth)
    width = max(map(len, totals), default=0)
    for account, balance in totals.items():
        print(f"{account:<{width}}  {balance}")


def _print(journal: Journal, _arguments: argparse.Namespace) -> None:
    print(write_journal(journal.by_date()), end="")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pocketledger", description="Bookkeeping in a plain text file.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    balance = commands.add_parser("balance", help="what each account holds")
    balance.set_defaults(command=_balance)
    balance.add_argument("file")
    balance.add_argument("--account", help="only this account and those below it")
    balance.add_argument("--depth", type=int, help="sum up to accounts of this depth")
    _add_period(balance)
    tidy = commands.add_parser("print", help="the journal, tidied and sorted by date")
    tidy.set_defaults(command=_print)
    tidy.add_argument("file")
    return parser


def _add_period(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", type=_date, help="first day, as 2026-01-31")
    parser.add_argument("--until", type=_date, help="last day, as 2026-01-31")


def _date(text: str) -> dt.date:
    try:
        return read_date(text)
    except LedgerError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
