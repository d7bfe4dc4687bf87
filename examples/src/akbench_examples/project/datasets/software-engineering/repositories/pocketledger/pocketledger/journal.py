"""The journal: all transactions of a file."""

from __future__ import annotations

from dataclasses import dataclass

from pocketledger.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Journal:
    """Transactions in the order of the file they were read from."""

    transactions: tuple[Transaction, ...] = ()

    def by_date(self) -> Journal:
        """The same journal, oldest transaction first; those of one day keep their order."""
        return Journal(tuple(sorted(self.transactions, key=lambda transaction: transaction.date)))
