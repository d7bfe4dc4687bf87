"""From text to a journal."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from pocketledger.account import check_name
from pocketledger.amount import Amount
from pocketledger.errors import LedgerError
from pocketledger.journal import Journal
from pocketledger.transaction import Posting, Transaction

type Line = tuple[int, str]
type Block = list[Line]

_COMMENT = re.compile(r"(^|\s{2,}|\t);.*$")
_HEADER = re.compile(r"(?P<date>\S+)\s+(?P<payee>\S.*)")
_COLUMNS = re.compile(r"\s{2,}|\t")


def read_journal(text: str) -> Journal:
    """Read a journal; raises LedgerError with the line number at the first thing that is not understood."""
    return Journal(tuple(_read_transaction(block) for block in _blocks(text)))


def _blocks(text: str) -> Iterator[Block]:
    """The stretches of lines between blank ones, without comments."""
    block: Block = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _COMMENT.sub("", raw).rstrip()
        if line:
            block.append((number, line))
        elif not raw.strip() and block:
            yield block
            block = []
    if block:
        yield block


def _read_transaction(block: Block) -> Transaction:
    number, header = block[0]
    match = _HEADER.fullmatch(header)
    if match is None or header[0].isspace():
        raise LedgerError("expected a date and a payee", line=number)
    date = read_date(match["date"], line=number)
    postings = tuple(_read_posting(line) for line in block[1:])
    try:
        return Transaction.balanced(date, match["payee"], postings)
    except LedgerError as error:
        raise error.at(number) from None


def _read_posting(line: Line) -> Posting:
    number, text = line
    if not text[0].isspace():
        raise LedgerError("a posting must be indented, and a blank line must part two transactions", line=number)
    name, *rest = _COLUMNS.split(text.strip())
    if len(rest) > 1:
        raise LedgerError(f"expected an account and an amount, got {len(rest) + 1} columns", line=number)
    try:
        return Posting(check_name(name), Amount.parse(rest[0]) if rest else None)
    except LedgerError as error:
        raise error.at(number) from None


def read_date(text: str, *, line: int | None = None) -> dt.date:
    """Read ``2026-01-31``; raises LedgerError for anything else."""
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise LedgerError(f"not a date: {text!r}", line=line) from None
