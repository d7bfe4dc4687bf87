import datetime as dt

import pytest


@pytest.fixture
def book():
    from pocketledger import read_journal

    return read_journal(TEXT)


@pytest.fixture
def rows(book):
    from pocketledger import register

    def shown(account, **period):
        found = register(book.transactions, account, **period)
        return [(row.date.day, row.payee, str(row.change), str(row.balance)) for row in found]

    return shown


TEXT = """\
2026-01-20 Refund
    assets:cash           2.40 EUR
    expenses:food

2026-01-05 Corner shop
    expenses:food        12.40 EUR
    expenses:food:bread   3.00 EUR
    assets:cash

2026-01-09 Bank
    assets:cash          50.00 EUR
    assets:bank

2026-01-20 Exchange
    assets:cash:dollars  10.00 USD
    assets:cash          -9.00 EUR
    equity:exchange

2026-01-25 Cashbox
    assets:cashbox        1.00 EUR
    income:found
""".replace("    equity:exchange\n", "    equity:exchange      9.00 EUR\n    equity:exchange    -10.00 USD\n")


def test_rows_are_by_date_and_keep_the_order_of_a_day(rows):
    assert rows("assets:cash") == [
        (5, "Corner shop", "-15.40 EUR", "-15.40 EUR"),
        (9, "Bank", "50.00 EUR", "34.60 EUR"),
        (20, "Refund", "2.40 EUR", "37.00 EUR"),
        (20, "Exchange", "-9.00 EUR, 10.00 USD", "28.00 EUR, 10.00 USD"),
    ]


def test_postings_of_one_transaction_are_one_row(rows):
    assert rows("expenses") == [
        (5, "Corner shop", "15.40 EUR", "15.40 EUR"),
        (20, "Refund", "-2.40 EUR", "13.00 EUR"),
    ]


def test_money_moved_within_the_account_makes_no_row(rows):
    assert [payee for _, payee, _, _ in rows("assets")] == ["Corner shop", "Refund", "Exchange", "Cashbox"]
    assert rows("equity") == [(20, "Exchange", "9.00 EUR, -10.00 USD", "9.00 EUR, -10.00 USD")]


def test_an_account_is_not_the_one_whose_name_begins_alike(rows):
    assert rows("assets:cashbox") == [(25, "Cashbox", "1.00 EUR", "1.00 EUR")]


def test_what_happened_before_the_period_counts_in_the_balance(rows):
    assert rows("assets:cash", since=dt.date(2026, 1, 9), until=dt.date(2026, 1, 19)) == [
        (9, "Bank", "50.00 EUR", "34.60 EUR"),
    ]


def test_both_ends_of_the_period_belong_to_it(rows):
    day = dt.date(2026, 1, 20)
    assert [payee for _, payee, _, _ in rows("assets:cash", since=day, until=day)] == ["Refund", "Exchange"]


def test_an_account_without_movements_has_no_rows(rows):
    assert rows("liabilities") == []


def test_changes_and_balances_are_balances(book):
    from pocketledger import Amount, Balance, register

    row = register(book.transactions, "assets:cash")[0]
    assert row.change == row.balance == Balance([Amount.parse("-15.40 EUR")])


def test_since_and_until_are_given_by_name(book):
    from pocketledger import register

    with pytest.raises(TypeError):
        register(book.transactions, "assets:cash", dt.date(2026, 1, 1))


@pytest.fixture
def run(tmp_path, capsys):
    from pocketledger.cli import main

    path = tmp_path / "household.ledger"
    path.write_text(TEXT)

    def output(*arguments):
        assert main(["register", str(path), *arguments]) == 0
        return capsys.readouterr().out

    return output


def test_the_command_prints_aligned_columns(run):
    assert run("assets:cash", "--until", "2026-01-10").splitlines() == [
        "2026-01-05  Corner shop  -15.40 EUR  -15.40 EUR",
        "2026-01-09  Bank         50.00 EUR   34.60 EUR",
    ]


def test_the_command_takes_a_period(run):
    assert run("assets:cash", "--since", "2026-01-06", "--until", "2026-01-09") == (
        "2026-01-09  Bank  50.00 EUR  34.60 EUR\n"
    )


def test_the_command_prints_nothing_without_movements(run):
    assert run("liabilities") == ""
