import pytest

from tramline import DAY, TimetableError, format_time, parse_time


def test_times_are_minutes_and_go_on_after_midnight():
    assert (parse_time("00:00"), parse_time("07:05"), parse_time("25:10")) == (0, 425, DAY + 70)


@pytest.mark.parametrize("text", ["7:05", "07:60", "48:00", "07.05", "", "07:05 "])
def test_other_spellings_are_refused(text):
    with pytest.raises(TimetableError, match="not a time"):
        parse_time(text)


def test_a_time_is_shown_with_the_day_it_falls_on():
    assert [format_time(minutes) for minutes in (425, DAY, DAY + 70, -10)] == ["07:05", "00:00+1", "01:10+1", "23:50-1"]
