"""Which part of a journal is asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pocketledger.account import is_within
from pocketledger.transaction import Posting, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A period (both ends belong to it) and an account with all below it; None means no limit."""

    since: dt.date | None = None
    until: dt.date | None = None
    account: str | None = None

    def select(self, transactions: Iterable[Transaction]) -> Iterator[Transaction]:
        """The transactions of the period, each cut down to the postings of the account."""
        for transaction in transactions:
            if self.covers(transaction.date):
                postings = tuple(filter(self.wants, transaction.postings))
                if postings:
                    yield replace(transaction, postings=postings)

    def covers(self, date: dt.date) -> bool:
        """Whether a day lies in the period."""
        return (self.since is None or self.since <= date) and (self.until is None or date <= self.until)

    def wants(self, posting: Posting) -> bool:
        """Whether a posting is on the account or below it."""
        return self.account is None or is_within(posting.account, self.account)
