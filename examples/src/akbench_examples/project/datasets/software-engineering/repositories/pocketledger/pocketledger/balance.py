"""What the accounts hold."""

from __future__ import annotations

from collections.abc import Iterable

from pocketledger.account import shorten
from pocketledger.amount import Balance
from pocketledger.transaction import Transaction


def balances(transactions: Iterable[Transaction], *, depth: int | None = None) -> dict[str, Balance]:
    """Each account's balance, by name in alphabetical order; with `depth`, summed up to accounts of that depth.

    Accounts that end at zero are left out.
    """
    totals: dict[str, Balance] = {}
    for transaction in transactions:
        for posting in transaction.postings:
            name = posting.account if depth is None else shorten(posting.account, depth)
            if posting.amount is not None:
                totals[name] = totals.get(name, Balance()) + posting.amount
    return {name: totals[name] for name in sorted(totals) if totals[name]}
