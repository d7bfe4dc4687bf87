import pocketledger

JOURNAL = pocketledger.read_journal("""\
2026-01-05 Corner shop
    expenses:food  15.50 EUR
    assets:cash

2026-01-09 Bank
    assets:cash    50.00 EUR
    assets:bank
""")


def test_each_movement_has_a_row_with_the_balance_after_it():
    rows = pocketledger.register(JOURNAL.transactions, "assets:cash")
    assert [(row.payee, str(row.change), str(row.balance)) for row in rows] == [
        ("Corner shop", "-15.50 EUR", "-15.50 EUR"),
        ("Bank", "50.00 EUR", "34.50 EUR"),
    ]
