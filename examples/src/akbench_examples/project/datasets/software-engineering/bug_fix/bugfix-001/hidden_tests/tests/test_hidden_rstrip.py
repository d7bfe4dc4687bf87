import pytest

from boltons.iterutils import rstrip, rstrip_iter, strip, strip_iter


@pytest.mark.parametrize("length", [2, 3, 4, 7, 50])
def test_a_run_inside_the_data_keeps_its_length(length):
    inner = [1, *[0] * length, 2]
    assert rstrip([*inner, 0, 0, 0], 0) == inner


def test_several_runs_of_different_lengths_are_kept():
    data = ["a", "", "", "b", "", "", "", "c", "", "d"]
    assert rstrip([*data, ""], "") == data


def test_the_default_strip_value_none_is_kept_inside():
    assert rstrip([None, None, 1, None, None, None, 2, None]) == [None, None, 1, None, None, None, 2]


def test_strip_keeps_inner_runs_too():
    assert strip([0, 0, 1, 0, 0, 0, 2, 0], 0) == [1, 0, 0, 0, 2]
    assert list(strip_iter(iter([0, 1, 0, 0, 2, 0]), 0)) == [1, 0, 0, 2]


def test_a_one_shot_iterator_loses_nothing():
    assert list(rstrip_iter(iter("a--b---c--"), "-")) == list("a--b---c")


def test_equal_values_come_out_as_the_very_objects_that_went_in():
    data = [1, 0, 0.0, False, 2]
    kept = rstrip([*data, 0], 0)
    assert [repr(value) for value in kept] == ["1", "0", "0.0", "False", "2"]
