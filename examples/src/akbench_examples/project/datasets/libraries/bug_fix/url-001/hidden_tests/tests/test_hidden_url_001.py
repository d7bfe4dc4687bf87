from boltons.urlutils import URL, QueryParamDict


def filled():
    return QueryParamDict([("a", "1"), ("b", "2")])


def pairs(each):
    return list(each.iteritems(multi=True))


def test_all_pairs_of_a_key_that_was_there_are_kept():
    each = filled()
    each.update([("a", "3"), ("a", "4"), ("a", "5")])
    assert pairs(each) == [("b", "2"), ("a", "3"), ("a", "4"), ("a", "5")]


def test_keys_may_be_mixed():
    each = filled()
    each.update([("a", "3"), ("b", "4"), ("a", "5"), ("c", "6"), ("b", "7")])
    assert each.getlist("a") == ["3", "5"]
    assert each.getlist("b") == ["4", "7"]


def test_a_generator_will_do():
    each = filled()
    each.update((key, key) for key in "aa")
    assert each.getlist("a") == ["a", "a"]


def test_the_link_shows_all_of_them():
    url = URL("http://example.com/search?tag=old&page=2")
    url.query_params.update([("tag", "red"), ("tag", "blue")])
    assert url.to_text() == "http://example.com/search?page=2&tag=red&tag=blue"
