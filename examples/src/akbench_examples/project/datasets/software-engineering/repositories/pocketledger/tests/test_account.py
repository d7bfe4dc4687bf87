import pytest

from pocketledger import LedgerError
from pocketledger.account import check_name, is_within, shorten


@pytest.mark.parametrize("name", ["assets", "assets:bank", "expenses:eating out", "a:b-c:d_1"])
def test_paths_of_lower_case_words_are_names(name):
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "Assets", "assets:", ":bank", "assets::bank", "assets: bank"])
def test_other_names_are_refused(name):
    with pytest.raises(LedgerError, match="not an account name"):
        check_name(name)


def test_an_account_lies_within_itself_and_its_ancestors_only():
    assert is_within("expenses:food", "expenses:food")
    assert is_within("expenses:food:bread", "expenses")
    assert not is_within("expenses:foot", "expenses:foo")
    assert not is_within("expenses", "expenses:food")


def test_shorten_cuts_at_a_depth():
    assert shorten("a:b:c", 2) == "a:b"
    assert shorten("a", 2) == "a"
