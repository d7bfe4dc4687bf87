import datetime as dt

import pytest

from pocketledger import Amount, LedgerError, Posting, read_journal

TEXT = """\
; household
2026-01-05 Corner shop  ; weekly
    expenses:food            12.40 EUR
    expenses:household        3.10 EUR
    ; paid with the last note
    assets:cash

2026-01-09 Salary
\tassets:bank\t2100.00 EUR
\tincome:salary
"""


def test_a_journal_is_read_in_file_order():
    first, second = read_journal(TEXT).transactions
    assert (first.date, first.payee) == (dt.date(2026, 1, 5), "Corner shop")
    assert (second.date, second.payee) == (dt.date(2026, 1, 9), "Salary")


def test_the_amount_left_out_is_filled_in():
    first, _ = read_journal(TEXT).transactions
    assert first.postings[-1] == Posting("assets:cash", Amount.parse("-15.50 EUR"))


def test_no_text_is_an_empty_journal():
    assert read_journal("").transactions == ()
    assert read_journal("; nothing yet\n\n").transactions == ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("hello\n", 1, "expected a date and a payee"),
        ("2026-02-30 X\n  a  1 EUR\n  b\n", 1, "not a date: '2026-02-30'"),
        ("\n2026-01-01 X\n  a  1 EUR\n  B\n", 4, "not an account name: 'B'"),
        ("2026-01-01 X\n  a  1 EUR\n  b  2,00 EUR\n", 3, "not an amount: '2,00 EUR'"),
        ("2026-01-01 X\n  a  1 EUR  2 EUR\n  b\n", 2, "got 3 columns"),
        ("2026-01-01 X\n  a  1 EUR\n2026-01-02 Y\n", 3, "must be indented"),
        ("2026-01-01 X\n  a  1 EUR\n", 1, "at least two postings"),
        ("2026-01-01 X\n  a\n  b\n", 1, "only one posting"),
        ("2026-01-01 X\n  a  1 EUR\n  b  -2 EUR\n", 1, "do not sum to zero: -1 EUR left over"),
        ("2026-01-01 X\n  a  1 EUR\n  b  1 USD\n  c\n", 1, "exactly one currency"),
    ],
)
def test_errors_name_their_line(text, line, message):
    with pytest.raises(LedgerError, match=message) as caught:
        read_journal(text)
    assert caught.value.line == line
