import pytest

from ledger import split


def test_what_can_be_shared_evenly_is():
    assert split(9, 3) == [3, 3, 3]


def test_nobody_can_pay_nothing():
    with pytest.raises(ValueError, match="somebody"):
        split(9, 0)
