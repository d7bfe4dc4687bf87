import datetime as dt

import pytest

from pocketledger import Amount, LedgerError, Posting, Transaction, balances, read_journal, write_journal
from pocketledger.cli import main

POSTINGS = "    expenses:rent  800.00 EUR\n    assets:bank\n"


def rule(header):
    return f"~ {header} Rent\n{POSTINGS}"


def days(text, through):
    return [str(found.date) for found in read_journal(text).expanded(dt.date.fromisoformat(through)).transactions]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("daily", ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]),
        ("every 3 days", ["2026-01-30", "2026-02-02"]),
        ("every 1 day", ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]),
    ],
)
def test_intervals_in_days(interval, expected):
    assert days(rule(f"{interval} from 2026-01-30"), "2026-02-02") == expected


def test_intervals_in_weeks():
    assert days(rule("weekly from 2026-02-20"), "2026-03-06") == ["2026-02-20", "2026-02-27", "2026-03-06"]
    assert days(rule("every 2 weeks from 2026-12-24"), "2027-01-20") == ["2026-12-24", "2027-01-07"]


def test_a_month_end_does_not_drift():
    assert days(rule("monthly from 2025-11-30"), "2026-04-30") == [
        "2025-11-30",
        "2025-12-30",
        "2026-01-30",
        "2026-02-28",
        "2026-03-30",
        "2026-04-30",
    ]
    assert days(rule("every 3 months from 2025-08-31"), "2026-05-31") == [
        "2025-08-31",
        "2025-11-30",
        "2026-02-28",
        "2026-05-31",
    ]


def test_a_leap_day_comes_back():
    assert days(rule("yearly from 2024-02-29"), "2028-12-31") == [
        "2024-02-29",
        "2025-02-28",
        "2026-02-28",
        "2027-02-28",
        "2028-02-29",
    ]
    assert days(rule("every 2 years from 2024-02-29"), "2028-12-31") == ["2024-02-29", "2026-02-28", "2028-02-29"]


def test_both_ends_belong_to_the_rule():
    assert days(rule("monthly from 2026-01-15 until 2026-03-15"), "2030-01-01") == [
        "2026-01-15",
        "2026-02-15",
        "2026-03-15",
    ]
    assert days(rule("monthly from 2026-01-15 until 2026-01-15"), "2030-01-01") == ["2026-01-15"]


def test_the_day_asked_for_belongs_to_the_expansion():
    text = rule("monthly from 2026-01-15")
    assert days(text, "2026-01-14") == []
    assert days(text, "2026-01-15") == ["2026-01-15"]


def test_an_occurrence_is_an_ordinary_transaction():
    (found,) = read_journal(rule("daily from 2026-01-01 until 2026-01-01")).expanded(dt.date(2026, 2, 1)).transactions
    assert found == Transaction(
        dt.date(2026, 1, 1),
        "Rent",
        (Posting("expenses:rent", Amount.parse("800.00 EUR")), Posting("assets:bank", Amount.parse("-800.00 EUR"))),
    )


MIXED = """\
~ daily from 2026-01-02 until 2026-01-03 First rule  ; a comment
    a  1 EUR
    b

2026-01-03 Written
    a  1 EUR
    b

~ every 2 days from 2026-01-03 Second rule
    a  1 EUR
    b

2026-01-03 Written too
    a  1 EUR
    b

2026-01-01 Earliest
    a  1 EUR
    b
"""


def test_written_transactions_come_before_generated_ones_of_a_day():
    journal = read_journal(MIXED).expanded(dt.date(2026, 1, 5))
    assert [(found.date.day, found.payee) for found in journal.transactions] == [
        (1, "Earliest"),
        (2, "First rule"),
        (3, "Written"),
        (3, "Written too"),
        (3, "First rule"),
        (3, "Second rule"),
        (5, "Second rule"),
    ]


def test_expanding_leaves_the_journal_as_it_was():
    journal = read_journal(MIXED)
    assert journal.expanded(dt.date(2026, 1, 5)).periodic == ()
    assert journal == read_journal(MIXED)
    assert [found.payee for found in journal.transactions] == ["Written", "Written too", "Earliest"]
    assert len(journal.periodic) == 2


def test_by_date_keeps_the_rules():
    journal = read_journal(MIXED)
    assert journal.by_date().periodic == journal.periodic
    assert journal.by_date().transactions[0].payee == "Earliest"


def test_rules_are_written_first_and_read_back():
    journal = read_journal(MIXED)
    text = write_journal(journal)
    assert text.startswith(
        "~ daily from 2026-01-02 until 2026-01-03 First rule\n    a   1 EUR\n    b  -1 EUR\n\n"
        "~ every 2 days from 2026-01-03 Second rule\n    a   1 EUR\n    b  -1 EUR\n\n"
        "2026-01-03 Written\n"
    )
    assert read_journal(text) == journal


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("every 1 month", "monthly"),
        ("every 1 years", "yearly"),
        ("every 1 weeks", "weekly"),
        ("every 2 day", "every 2 days"),
        ("every 12 months", "every 12 months"),
    ],
)
def test_intervals_are_written_in_one_form(read, written):
    text = write_journal(read_journal(rule(f"{read} from 2026-01-01")))
    assert text.splitlines()[0] == f"~ {written} from 2026-01-01 Rent"


def test_a_payee_may_use_the_words_of_a_rule():
    journal = read_journal(f"~ monthly from 2026-01-01 Rent from Ann until summer\n{POSTINGS}")
    (found,) = journal.expanded(dt.date(2026, 1, 1)).transactions
    assert found.payee == "Rent from Ann until summer"
    assert read_journal(write_journal(journal)) == journal


@pytest.mark.parametrize(
    "header",
    [
        "fortnightly from 2026-01-01",
        "every 0 days from 2026-01-01",
        "every -1 days from 2026-01-01",
        "every two weeks from 2026-01-01",
        "every 2 fortnights from 2026-01-01",
        "monthly",
        "monthly from",
        "monthly from 2026-02-30",
        "monthly from 2026-01-01 until 2026-02-30",
        "monthly from 2026-01-02 until 2026-01-01",
    ],
)
def test_a_first_line_that_makes_no_sense_is_named(header):
    with pytest.raises(LedgerError) as caught:
        read_journal(f"; rules\n\n{rule(header)}")
    assert caught.value.line == 3
    assert read_journal(rule("monthly from 2026-01-01")).periodic


def test_a_rule_without_a_payee_is_named():
    with pytest.raises(LedgerError) as caught:
        read_journal(f"~ monthly from 2026-01-01\n{POSTINGS}")
    assert caught.value.line == 1
    assert read_journal(rule("monthly from 2026-01-01")).periodic


def test_postings_of_a_rule_follow_the_rules_of_transactions():
    with pytest.raises(LedgerError, match="sum to zero") as unbalanced:
        read_journal("\n~ monthly from 2026-01-01 Rent\n    a  1 EUR\n    b  1 EUR\n")
    with pytest.raises(LedgerError, match="not an amount") as unreadable:
        read_journal("\n~ monthly from 2026-01-01 Rent\n    a  1 EUR\n    b  one EUR\n")
    assert (unbalanced.value.line, unreadable.value.line) == (2, 4)


@pytest.fixture
def run(tmp_path, capsys):
    path = tmp_path / "household.ledger"
    path.write_text(f"2026-01-10 Gift\n    assets:bank  100.00 EUR\n    income\n\n{rule('monthly from 2026-01-05')}")

    def output(command, *arguments):
        assert main([command, str(path), *arguments]) == 0
        return capsys.readouterr().out

    return output


def test_balance_counts_rules_only_when_asked(run):
    assert "expenses:rent" not in run("balance")
    assert run("balance", "--through", "2026-02-05", "--account", "expenses") == "expenses:rent  1600.00 EUR\n"


def test_balance_combines_the_expansion_with_a_period(run):
    out = run("balance", "--through", "2026-12-31", "--since", "2026-02-01", "--until", "2026-03-31")
    assert out == "assets:bank    -1600.00 EUR\nexpenses:rent  1600.00 EUR\n"


def test_print_shows_rules_or_what_they_bring(run):
    assert run("print").startswith("~ monthly from 2026-01-05 Rent\n")
    headers = [line for line in run("print", "--through", "2026-02-05").splitlines() if line[:1] not in {"", " "}]
    assert headers == ["2026-01-05 Rent", "2026-01-10 Gift", "2026-02-05 Rent"]


def test_balances_of_an_expanded_journal_add_up():
    journal = read_journal(rule("weekly from 2026-01-01 until 2026-12-31")).expanded(dt.date(2027, 6, 1))
    assert str(balances(journal.transactions)["expenses:rent"]) == "42400.00 EUR"
