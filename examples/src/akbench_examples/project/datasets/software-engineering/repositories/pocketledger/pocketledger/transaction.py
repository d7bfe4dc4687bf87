"""Transactions: money that moves between accounts and sums to zero."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pocketledger.amount import Amount, Balance
from pocketledger.errors import LedgerError


@dataclass(frozen=True, slots=True)
class Posting:
    """One account's part in a transaction; no amount means "whatever is missing to zero"."""

    account: str
    amount: Amount | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """What happened on a day; build it with `balanced`, which fills in a missing amount and checks the sum."""

    date: dt.date
    payee: str
    postings: tuple[Posting, ...]

    @classmethod
    def balanced(cls, date: dt.date, payee: str, postings: tuple[Posting, ...]) -> Transaction:
        """A transaction whose postings all have amounts and sum to zero in each currency, or LedgerError."""
        return cls(date, payee, complete(postings))


def complete(postings: tuple[Posting, ...]) -> tuple[Posting, ...]:
    """The same postings with the missing amount filled in; raises LedgerError when they cannot balance."""
    if len(postings) < 2:
        raise LedgerError("a transaction needs at least two postings")
    missing = [posting for posting in postings if posting.amount is None]
    if len(missing) > 1:
        raise LedgerError("only one posting may leave its amount out")
    rest = Balance(posting.amount for posting in postings if posting.amount is not None)
    if not missing:
        _check_zero(rest)
        return postings
    return _fill(postings, rest)


def _check_zero(rest: Balance) -> None:
    if rest:
        raise LedgerError(f"the postings do not sum to zero: {rest} left over")


def _fill(postings: tuple[Posting, ...], rest: Balance) -> tuple[Posting, ...]:
    amounts = list(-rest)
    if len(amounts) != 1:
        raise LedgerError("the amount that was left out cannot be told: it needs exactly one currency")
    return tuple(p if p.amount is not None else Posting(p.account, amounts[0]) for p in postings)
