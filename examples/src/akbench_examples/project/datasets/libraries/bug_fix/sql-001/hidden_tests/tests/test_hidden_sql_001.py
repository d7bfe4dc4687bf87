import pytest

import sqlparse


@pytest.mark.parametrize("text", ["select 1;", "select 1 ;", "select 1;  \n", "select 1 ; \n "])
def test_the_end_is_clean(text):
    assert sqlparse.split(text, strip_semicolon=True) == ["select 1"]


def test_each_statement_is_stripped():
    assert sqlparse.split("select 1; select 2;", strip_semicolon=True) == ["select 1", "select 2"]


def test_a_semicolon_in_a_string_stays():
    assert sqlparse.split("select ';';", strip_semicolon=True) == ["select ';'"]
