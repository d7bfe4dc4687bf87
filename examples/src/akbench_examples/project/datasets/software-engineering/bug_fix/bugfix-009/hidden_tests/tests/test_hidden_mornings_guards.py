import datetime as dt

from tramline import Planner, read_network

NETWORK = read_network("stop A 0 A\nstop B 0 B\nline W we\nstops A B\ntrip 10:00 10:10\ntrip 25:00 25:10\n")


def test_the_day_itself_is_known_with_what_follows_its_midnight():
    planner = Planner(NETWORK, dt.date(2026, 3, 4))
    assert [planner.earliest("A", "B", at).departure for at in (0, 601)] == [600, 1500]
    assert planner.earliest("A", "B", 1501) is None


def test_nothing_is_known_of_other_days():
    assert [Planner(NETWORK, dt.date(2026, 3, day)).earliest("A", "B", 0) for day in (2, 6, 7, 8)] == [None] * 4
