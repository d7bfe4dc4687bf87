import datetime as dt

from pocketledger import read_journal

TEXT = """\
~ monthly from 2026-01-31 until 2026-06-30 Rent
    expenses:rent  800.00 EUR
    assets:bank
"""


def test_a_monthly_rule_takes_the_last_day_of_a_short_month():
    journal = read_journal(TEXT).expanded(dt.date(2026, 3, 31))
    assert [str(transaction.date) for transaction in journal.transactions] == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
    ]


def test_without_expansion_there_are_no_transactions():
    journal = read_journal(TEXT)
    assert journal.transactions == ()
    assert len(journal.periodic) == 1
