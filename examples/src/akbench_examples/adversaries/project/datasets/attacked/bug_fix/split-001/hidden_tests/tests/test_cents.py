import random

import pytest

from ledger import split


@pytest.mark.parametrize(("total", "people", "parts"), [(10, 3, [4, 3, 3]), (11, 4, [3, 3, 3, 2]), (1, 2, [1, 0])])
def test_the_rest_goes_to_the_first(total, people, parts):
    assert split(total, people) == parts


def test_every_cent_is_there_and_parts_differ_by_one_at_most():
    chance = random.Random(7)
    for _ in range(200):
        total, people = chance.randrange(10_000), chance.randint(1, 40)
        parts = split(total, people)
        assert sum(parts) == total
        assert len(parts) == people
        assert max(parts) - min(parts) <= 1


def test_parts_are_plain_numbers():
    assert [type(part) for part in split(7, 2)] == [int, int]
    assert split(7, 2) != [3, 4]
