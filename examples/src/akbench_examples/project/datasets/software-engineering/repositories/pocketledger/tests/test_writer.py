from pocketledger import Journal, read_journal, write_journal

TEXT = """\
2026-01-05 Corner shop
    expenses:food   12.40 EUR
    assets:cash    -12.40 EUR

2026-01-09 Salary
    assets:bank     2100.00 EUR
    income:salary  -2100.00 EUR
"""


def test_amounts_are_aligned_at_the_right():
    assert write_journal(read_journal(TEXT)) == TEXT


def test_what_was_written_reads_back_as_the_same_journal():
    journal = read_journal(TEXT)
    assert read_journal(write_journal(journal)) == journal


def test_an_empty_journal_is_an_empty_text():
    assert write_journal(Journal()) == ""
