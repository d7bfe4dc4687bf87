from itertools import count, islice

from boltons.iterutils import lstrip, rstrip, rstrip_iter, strip


def test_only_strip_values_leave_nothing():
    assert rstrip([0, 0, 0], 0) == []
    assert strip([0, 0, 0], 0) == []
    assert rstrip([], 0) == []


def test_a_leading_run_belongs_to_lstrip():
    assert rstrip([0, 1, 0], 0) == [0, 1]
    assert lstrip([0, 1, 0], 0) == [1, 0]


def test_nothing_is_read_further_ahead_than_the_run_needs():
    endless = rstrip_iter(count(1), 0)
    assert list(islice(endless, 3)) == [1, 2, 3]
