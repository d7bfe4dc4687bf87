"""From a journal to text that reads back as the same journal."""

from __future__ import annotations

from pocketledger.journal import Journal
from pocketledger.transaction import Posting, Transaction

_INDENT = "    "


def write_journal(journal: Journal) -> str:
    """The journal as text, amounts aligned at the right, one blank line between transactions."""
    return "\n".join(_transaction(transaction) for transaction in journal.transactions)


def _transaction(transaction: Transaction) -> str:
    header = f"{transaction.date.isoformat()} {transaction.payee}"
    return "\n".join([header, *_postings(transaction.postings)]) + "\n"


def _postings(postings: tuple[Posting, ...]) -> list[str]:
    """The posting lines, as wide as the widest account and amount of this transaction need."""
    amounts = ["" if posting.amount is None else str(posting.amount) for posting in postings]
    account_width = max((len(posting.account) for posting in postings), default=0)
    amount_width = max(map(len, amounts), default=0)
    return [
        f"{_INDENT}{posting.account:<{account_width}}  {amount:>{amount_width}}".rstrip()
        for posting, amount in zip(postings, amounts, strict=True)
    ]
