"""Double-entry bookkeeping in a plain text file."""

from pocketledger.amount import Amount, Balance
from pocketledger.balance import balances
from pocketledger.errors import LedgerError
from pocketledger.journal import Journal
from pocketledger.query import Query
from pocketledger.reader import read_journal
from pocketledger.transaction import Posting, Transaction
from pocketledger.writer import write_journal

__all__ = [
    "Amount",
    "Balance",
    "Journal",
    "LedgerError",
    "Posting",
    "Query",
    "Transaction",
    "balances",
    "read_journal",
    "write_journal",
]
