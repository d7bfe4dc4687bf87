import pytest
from greeting import greet


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Ada", "Grace"], "Hello, Ada and Grace!"),
        (["Ada", "Grace", "Edsger"], "Hello, Ada, Grace and Edsger!"),
        (["A", "B", "C", "D"], "Hello, A, B, C and D!"),
    ],
)
def test_every_member_of_a_group_is_greeted(names, expected):
    assert greet(names) == expected
