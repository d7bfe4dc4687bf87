import pytest

import sqlparse

DECLARES = "CREATE FUNCTION f() RETURNS int DECLARE x int; BEGIN RETURN x; END;"
BRANCHES = "CREATE PROCEDURE p() BEGIN IF a THEN SET b = 1; END IF; END;"
BOTH = "CREATE FUNCTION g() RETURNS int DECLARE x int; BEGIN IF a THEN SET x = 1; END IF; RETURN x; END;"
NESTED = "CREATE PROCEDURE q() BEGIN IF a THEN IF b THEN SET c = 1; END IF; SET d = 2; END IF; END;"


@pytest.mark.parametrize("block", [DECLARES, BRANCHES, BOTH, NESTED])
def test_what_follows_a_block_is_split(block):
    assert sqlparse.split(f"{block} SELECT 1; SELECT 2;") == [block, "SELECT 1;", "SELECT 2;"]


def test_blocks_in_a_row_are_split():
    assert sqlparse.split(f"{DECLARES} {BRANCHES} {BOTH}") == [DECLARES, BRANCHES, BOTH]
