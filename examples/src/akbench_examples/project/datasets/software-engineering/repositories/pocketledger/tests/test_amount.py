from decimal import Decimal

import pytest

from pocketledger import Amount, Balance, LedgerError


def test_an_amount_keeps_its_decimals_as_written():
    assert str(Amount.parse("12.40 EUR")) == "12.40 EUR"
    assert Amount.parse("-3 USD") == Amount(Decimal(-3), "USD")


@pytest.mark.parametrize("text", ["12.40", "EUR 12.40", "12,40 EUR", "1 eur", "", "12. EUR"])
def test_other_spellings_are_refused(text):
    with pytest.raises(LedgerError, match="not an amount"):
        Amount.parse(text)


def test_a_balance_sums_by_currency_and_drops_what_cancels_out():
    balance = Balance([Amount.parse("1.50 EUR"), Amount.parse("2 USD"), Amount.parse("-2.00 USD")])
    assert list(balance) == [Amount.parse("1.50 EUR")]
    assert str(balance) == "1.50 EUR"


def test_an_empty_balance_is_false_and_reads_zero():
    nothing = Balance([Amount.parse("1 EUR")]) + Amount.parse("-1 EUR")
    assert not nothing
    assert str(nothing) == "0"
    assert nothing == Balance()


def test_balances_add_up_and_negate():
    both = Balance([Amount.parse("1 EUR")]) + Balance([Amount.parse("2 USD"), Amount.parse("3 EUR")])
    assert str(both) == "4 EUR, 2 USD"
    assert str(-both) == "-4 EUR, -2 USD"
