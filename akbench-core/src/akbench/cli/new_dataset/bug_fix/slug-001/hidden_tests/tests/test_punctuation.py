"""Laid over the agent's tree only when it is judged: the agent never sees this test."""

import pytest
from slugs import slug


@pytest.mark.parametrize(
    ("title", "expected"),
    [("What? Why?", "what-why"), ("rock'n'roll", "rock-n-roll"), ("(a) [b] {c}", "a-b-c"), ("100 % sure", "100-sure")],
)
def test_whatever_is_no_letter_and_no_digit_only_parts_words(title, expected):
    assert slug(title) == expected
