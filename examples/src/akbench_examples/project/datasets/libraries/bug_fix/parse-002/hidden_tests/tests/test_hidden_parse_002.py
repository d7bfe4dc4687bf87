import datetime as dt

from parse import parse

MAIL = "Mon, 21 Nov 2011 10:21:36 +1000"


def test_what_follows_is_read_rightly():
    assert parse("{:te} {} {}", f"{MAIL} from anna").fixed[1:] == ("from", "anna")


def test_numbers_that_follow_are_converted():
    assert parse("{:te} {:d} {:w}", f"{MAIL} 42 bytes").fixed[1:] == (42, "bytes")


def test_a_second_date_is_read():
    first, second = parse("{:te} -> {:te}", f"{MAIL} -> Tue, 22 Nov 2011 08:00:00 +1000").fixed
    assert (first.day, second.day) == (21, 22)
    assert second.time() == dt.time(8)
