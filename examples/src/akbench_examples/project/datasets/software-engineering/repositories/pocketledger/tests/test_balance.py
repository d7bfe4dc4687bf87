import datetime as dt

from pocketledger import Query, balances, read_journal

JOURNAL = read_journal("""\
2026-02-01 Bakery
    expenses:food:bread   3.00 EUR
    assets:cash

2026-01-05 Corner shop
    expenses:food        12.40 EUR
    assets:cash

2026-01-20 Refund
    assets:cash          12.40 EUR
    expenses:food

2026-01-21 Exchange
    assets:cash:dollars  10.00 USD
    equity:exchange
""")


def shown(**query):
    depth = query.pop("depth", None)
    found = balances(Query(**query).select(JOURNAL.transactions), depth=depth)
    return {account: str(balance) for account, balance in found.items()}


def test_accounts_at_zero_are_left_out():
    assert shown() == {
        "assets:cash": "-3.00 EUR",
        "assets:cash:dollars": "10.00 USD",
        "equity:exchange": "-10.00 USD",
        "expenses:food:bread": "3.00 EUR",
    }


def test_depth_sums_up():
    assert shown(depth=1) == {
        "assets": "-3.00 EUR, 10.00 USD",
        "equity": "-10.00 USD",
        "expenses": "3.00 EUR",
    }


def test_both_ends_of_a_period_belong_to_it():
    day = dt.date(2026, 1, 5)
    assert shown(since=day, until=day) == {"assets:cash": "-12.40 EUR", "expenses:food": "12.40 EUR"}


def test_an_account_brings_those_below_it():
    assert shown(account="expenses") == {"expenses:food:bread": "3.00 EUR"}


def test_by_date_keeps_the_order_of_a_day():
    dates = [transaction.date for transaction in JOURNAL.by_date().transactions]
    assert dates == sorted(dates)
