import pytest

from pocketledger.cli import main

TEXT = """\
2026-01-09 Salary
    assets:bank  2100.00 EUR
    income:salary

2026-01-05 Corner shop
    expenses:food  12.40 EUR
    assets:cash
"""


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "household.ledger"
    path.write_text(TEXT)
    return str(path)


def test_balance_shows_each_account(ledger, capsys):
    assert main(["balance", ledger, "--until", "2026-01-05"]) == 0
    assert capsys.readouterr().out == "assets:cash    -12.40 EUR\nexpenses:food  12.40 EUR\n"


def test_print_sorts_and_tidies(ledger, capsys):
    assert main(["print", ledger]) == 0
    assert capsys.readouterr().out.startswith("2026-01-05 Corner shop\n    expenses:food   12.40 EUR\n")


def test_a_bad_journal_is_reported_with_its_line(tmp_path, capsys):
    path = tmp_path / "bad.ledger"
    path.write_text("2026-01-05 Shop\n    food\n")
    assert main(["balance", str(path)]) == 1
    assert "bad.ledger: line 1: a transaction needs at least two postings" in capsys.readouterr().err


def test_a_missing_file_is_reported(tmp_path, capsys):
    assert main(["print", str(tmp_path / "none.ledger")]) == 1
    assert "none.ledger" in capsys.readouterr().err


def test_a_bad_date_is_a_usage_error(ledger, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["balance", ledger, "--since", "yesterday"])
    assert "not a date: 'yesterday'" in capsys.readouterr().err
