import pytest

from tramline import TimetableError, read_network
from tramline.text import columns, table_lines

STOPS = "stop A 0 Airport\nstop B 0 Bridge\nstop C 0 Castle\nline T1 daily\n"


def test_columns_are_as_wide_as_their_widest_cell():
    assert list(columns([("a", "bb", ""), ("ccc", "d", "e")])) == ["a    bb", "ccc  d   e"]
    assert list(columns([])) == []


def test_a_table_has_a_column_for_each_trip_and_a_row_for_each_stop():
    network = read_network(f"{STOPS}stops A C\ntrip 09:00 09:20\nstops A B C\ntrip 08:00 08:10/08:12 08:20\n")
    assert list(table_lines(network, "T1")) == [
        "T1       daily  daily",
        "Airport  08:00  09:00",
        "Bridge   08:12  -",
        "Castle   08:20  09:20",
    ]


def test_there_is_no_table_of_both_directions():
    network = read_network(f"{STOPS}stops A B\ntrip 09:00 09:20\nstops B A\ntrip 10:00 10:20\n")
    with pytest.raises(TimetableError, match="go different ways"):
        list(table_lines(network, "T1"))
