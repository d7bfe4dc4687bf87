import datetime as dt

import pytest

TEXT = """\
stop A 3 Airport
stop B 0 Bridge
stop C 1 Castle
stop D 1 Docks

line T2 daily
  stops A B C
  trip 10:00 10:05/10:07 10:20
  trip 10:30 - 10:50
line T1 daily
  stops A B D
  trip 10:00 10:06 10:12
line T1 daily
  stops A C
  trip 10:00 10:40
line RING mo-fr
  stops B A C A B
  trip 12:00 12:10 12:20 12:30/12:31 12:40
line NIGHT fr,sa except 2026-03-14
  stops A B
  trip 23:30 24:00
  trip 24:00 24:30
  trip 25:10 25:40
line EARLY mo
  stops A B
  trip 00:05 00:20
"""
MONDAY = dt.date(2026, 3, 2)


@pytest.fixture
def network():
    from tramline import read_network

    return read_network(TEXT)


@pytest.fixture
def board(network):
    from tramline import departures, parse_time

    def listed(stop, at, weekday=0, **options):
        day = MONDAY + dt.timedelta(days=weekday)
        return [
            (found.time, found.line, found.destination)
            for found in departures(network, stop, day, parse_time(at), **options)
        ]

    return listed


def test_what_leaves_in_one_minute_is_sorted_by_line_and_destination(board):
    assert board("A", "10:00", within=0) == [(600, "T1", "C"), (600, "T1", "D"), (600, "T2", "C")]


def test_both_ends_of_the_time_belong_to_it(board):
    assert board("A", "10:01", within=29) == [(630, "T2", "C")]
    assert board("A", "10:01", within=28) == []
    assert board("A", "10:30", within=10) == [(630, "T2", "C")]
    assert board("A", "10:31", within=10) == []


def test_an_hour_is_looked_ahead_unless_said_otherwise(board):
    assert board("A", "09:30")[-1] == (630, "T2", "C")
    assert (630, "T2", "C") not in board("A", "09:29")


def test_the_time_is_that_of_leaving(board):
    assert board("B", "10:07", within=10) == [(607, "T2", "C")]
    assert board("B", "10:05", within=1) == [(606, "T1", "D")]


def test_a_trip_that_passes_without_calling_does_not_leave(board):
    assert board("B", "10:08", within=60) == []


def test_via_are_the_calls_between_here_and_the_end(network):
    from tramline import departures

    listed = departures(network, "A", MONDAY, 600, within=40)
    assert [(found.line, found.via) for found in listed] == [("T1", ()), ("T1", ("B",)), ("T2", ("B",)), ("T2", ())]
    ring = departures(network, "B", MONDAY, 720)
    assert [(found.destination, found.via) for found in ring] == [("B", ("A", "C", "A"))]


def test_a_trip_that_calls_twice_leaves_twice(network):
    from tramline import departures

    listed = departures(network, "A", MONDAY, 725)
    assert [(found.time, found.line, found.via) for found in listed] == [(730, "RING", ("C", "A")), (751, "RING", ())]


def test_a_night_service_is_listed_on_the_morning_after_its_day(board):
    assert board("A", "00:00", weekday=5, within=90) == [(0, "NIGHT", "B"), (70, "NIGHT", "B")]
    assert board("A", "00:00", weekday=6, within=90) == [(0, "NIGHT", "B"), (70, "NIGHT", "B")]
    assert board("A", "00:00", weekday=4, within=90) == []


def test_an_exception_is_a_service_day(board):
    assert [found[0] for found in board("A", "00:00", weekday=12, within=90)] == [0, 70]
    assert board("A", "23:00", weekday=12, within=40) == []
    assert board("A", "00:00", weekday=13, within=90) == []


def test_an_evening_reaches_into_the_next_day(board):
    assert board("A", "23:30", weekday=6) == [(1445, "EARLY", "B")]
    assert board("A", "23:30", weekday=5) == [(1410, "NIGHT", "B"), (1440, "NIGHT", "B")]


def test_a_time_after_midnight_may_be_asked_for(board):
    assert board("A", "24:30", weekday=5, within=40) == [(1510, "NIGHT", "B")]


def test_an_unknown_stop_is_an_error(network):
    from tramline import TimetableError, departures

    with pytest.raises(TimetableError, match="no stop Z"):
        departures(network, "Z", MONDAY, 0)


def test_within_is_given_by_name(network):
    from tramline import departures

    with pytest.raises(TypeError):
        departures(network, "A", MONDAY, 0, 30)


@pytest.fixture
def run(tmp_path, capsys):
    from tramline.cli import main

    path = tmp_path / "town.tt"
    path.write_text(TEXT)

    def output(stop, *arguments):
        assert main(["board", str(path), stop, *arguments]) == 0
        return capsys.readouterr().out

    return output


def test_the_command_prints_aligned_columns(run):
    assert run("A", "--on", "2026-03-02", "--at", "10:00", "--within", "30").splitlines() == [
        "10:00  T1  Castle",
        "10:00  T1  Docks   via Bridge",
        "10:00  T2  Castle  via Bridge",
        "10:30  T2  Castle",
    ]
    assert run("B", "--on", "2026-03-02", "--at", "12:00") == "12:00  RING  Bridge  via Airport, Castle, Airport\n"


def test_the_command_shows_the_day_a_time_falls_on(run):
    assert run("A", "--on", "2026-03-08", "--at", "23:30") == "00:05+1  EARLY  Bridge\n"


def test_the_command_prints_nothing_when_nothing_leaves(run):
    assert run("D", "--on", "2026-03-02", "--at", "10:00") == ""


def test_the_command_reports_an_unknown_stop(tmp_path, capsys):
    from tramline.cli import main

    (tmp_path / "town.tt").write_text(TEXT)
    assert main(["board", str(tmp_path / "town.tt"), "Z", "--on", "2026-03-02", "--at", "10:00"]) == 1
    assert "there is no stop Z" in capsys.readouterr().err
