import datetime as dt

import pytest

from tramline import Service, TimetableError

MONDAY = dt.date(2026, 3, 2)


def days(text, exceptions=""):
    service = Service.parse(text, exceptions)
    return [day for day in range(7) if service.runs_on(MONDAY + dt.timedelta(days=day))]


def test_days_and_ranges_may_be_mixed():
    assert days("mo-we,sa") == [0, 1, 2, 5]
    assert days("daily") == list(range(7))


def test_a_range_goes_on_over_the_end_of_the_week():
    assert days("sa-mo") == [0, 5, 6]
    assert days("tu-tu") == [1]


def test_a_service_does_not_run_on_its_exceptions():
    assert days("daily", "2026-03-03,2026-03-08") == [0, 2, 3, 4, 5]


@pytest.mark.parametrize("text", ["", "monday", "mo-", "mo,,tu", "mo-we-fr", "Mo"])
def test_other_days_are_refused(text):
    with pytest.raises(TimetableError, match="not a day"):
        Service.parse(text)


def test_a_service_reads_as_it_is_written():
    service = Service.parse("sa,mo-tu", "2026-12-25,2026-12-24")
    assert str(service) == "mo,tu,sa except 2026-12-24,2026-12-25"
    assert Service.parse(*str(service).split(" except ")) == service
