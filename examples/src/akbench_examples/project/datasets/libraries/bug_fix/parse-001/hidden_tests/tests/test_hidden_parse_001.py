import datetime as dt

import pytest

from parse import parse


@pytest.mark.parametrize("minute", [0, 15, 59])
def test_twelve_am_is_midnight(minute):
    assert parse("{:tt}", f"12:{minute:02}:20 AM")[0] == dt.time(0, minute, 20)


@pytest.mark.parametrize(("kind", "text"), [("tg", "20/1/1972 12:05:01 AM"), ("ta", "1/20/1972 12:05:01 AM")])
def test_so_it_is_with_a_date(kind, text):
    assert parse(f"{{:{kind}}}", text)[0] == dt.datetime(1972, 1, 20, 0, 5, 1)
