import pytest

from tramline import Call, Service, Stop, TimetableError, read_network

TEXT = """\
# the town
stop HBF 4 Central Station
stop UNI 0 University   # no stairs

line T1 mo-fr except 2026-12-24
  stops HBF UNI HBF
  trip 07:00 07:06/07:08 07:15
  trip 25:00 - 25:15
"""


def test_stops_lines_and_trips_are_read():
    network = read_network(TEXT)
    assert list(network.stops.values()) == [Stop("HBF", "Central Station", 4), Stop("UNI", "University", 0)]
    first, second = network.line("T1")
    assert first.service == Service.parse("mo-fr", "2026-12-24")
    assert first.calls == (Call("HBF", 420, 420), Call("UNI", 426, 428), Call("HBF", 435, 435))
    assert second.calls == (Call("HBF", 1500, 1500), Call("HBF", 1515, 1515))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("halt HBF", "expected one of .*, not 'halt'"),
        ("stop ZOO Zoo", "expected stop CODE MINUTES NAME"),
        ("stop ZOO -1 Zoo", "expected stop CODE MINUTES NAME"),
        ("stop HBF 1 Again", "there is a stop HBF already"),
        ("line T2", "expected line NAME DAYS"),
        ("line T2 mo without 2026-12-24", "expected line NAME DAYS"),
        ("line T2 mo except 2026-02-30", "not a date: '2026-02-30'"),
        ("stops HBF ZOO", "there is no stop ZOO"),
        ("trip 07:00 07:10", "expected 3 times, got 2"),
        ("trip 07:00 07:10 07:65", "not a time: '07:65'"),
        ("trip 07:00 - -", "two stops"),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(line, message):
    with pytest.raises(TimetableError, match=message) as caught:
        read_network(f"{TEXT}\n{line}\n")
    assert caught.value.line == 10
    assert str(caught.value).startswith("line 10: ")


def test_stops_and_trips_need_what_they_belong_to():
    with pytest.raises(TimetableError, match="belong below a line"):
        read_network("stops")
    with pytest.raises(TimetableError, match="belongs below the stops"):
        read_network(f"{TEXT}line T2 mo\ntrip 07:00")
