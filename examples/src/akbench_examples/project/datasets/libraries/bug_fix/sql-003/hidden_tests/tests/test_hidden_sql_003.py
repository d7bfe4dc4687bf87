import sqlparse
from sqlparse import sql


def test_lists_stand_below_their_first_item():
    text = "select foo, bar, baz from tab where a in (select b, c from d)"
    assert (
        sqlparse.format(text, reindent=True)
        == "select foo,\n       bar,\n       baz\nfrom tab\nwhere a in\n    (select b,\n            c\n     from d)"
    )


def leaves(text):
    statement = sqlparse.parse(text)[0]
    return statement, list(statement.flatten())


def test_every_leaf_has_the_statement_as_ancestor():
    statement, tokens = leaves("select a.b, f(c + 1) as d from (select 1) x where y = 2")
    assert all(token.has_ancestor(statement) for token in tokens)


def test_groups_know_what_they_are_in():
    _, tokens = leaves("select f(a, b) from t")
    (name,) = [token for token in tokens if token.value == "a"]
    assert name.within(sql.Function)
