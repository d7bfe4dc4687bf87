import pytest

import sqlparse

FUNCTION = "CREATE FUNCTION f() RETURNS int DECLARE x int; BEGIN SET x = 1; RETURN x; END;"


def test_a_cursor_is_three_statements():
    text = "DECLARE c CURSOR FOR SELECT 1; FETCH c; CLOSE c;"
    assert sqlparse.split(text) == ["DECLARE c CURSOR FOR SELECT 1;", "FETCH c;", "CLOSE c;"]


@pytest.mark.parametrize("before", ["SELECT 0;", "CREATE TABLE t (a int);", "INSERT INTO t VALUES (1);"])
def test_a_declaration_after_another_statement_ends_at_its_semicolon(before):
    assert sqlparse.split(f"{before} DECLARE @x int; SELECT 1;") == [before, "DECLARE @x int;", "SELECT 1;"]


def test_a_declaration_after_a_function_ends_at_its_semicolon():
    assert sqlparse.split(f"{FUNCTION} DECLARE @x int; SELECT 1;") == [FUNCTION, "DECLARE @x int;", "SELECT 1;"]
