import pytest

from tramline.cli import main

TEXT = """\
stop HBF 4 Central Station
stop UNI 1 University
stop ZOO 2 Zoo
line T1 mo-fr
  stops HBF UNI
  trip 07:00 07:06
line N1 daily
  stops UNI ZOO
  trip 23:50 24:05
"""


@pytest.fixture
def town(tmp_path):
    path = tmp_path / "town.tt"
    path.write_text(TEXT)
    return str(path)


def test_stops_lists_them_by_code(town, capsys):
    assert main(["stops", town]) == 0
    assert capsys.readouterr().out == "HBF  4  Central Station\nUNI  1  University\nZOO  2  Zoo\n"


def test_stops_of_an_empty_file_are_none(tmp_path, capsys):
    (tmp_path / "empty.tt").write_text("")
    assert main(["stops", str(tmp_path / "empty.tt")]) == 0
    assert capsys.readouterr().out == ""


def test_table_shows_a_line(town, capsys):
    assert main(["table", town, "T1"]) == 0
    assert (
        capsys.readouterr().out == "T1               mo,tu,we,th,fr\nCentral Station  07:00\nUniversity       07:06\n"
    )


def test_plan_prints_a_line_for_each_ride(town, capsys):
    assert main(["plan", town, "HBF", "ZOO", "--on", "2026-03-02", "--at", "06:30"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "07:00  Central Station  T1  07:06    University",
        "23:50  University       N1  00:05+1  Zoo",
    ]


def test_plan_says_when_there_is_no_way(town, capsys):
    assert main(["plan", town, "ZOO", "HBF", "--on", "2026-03-02", "--at", "06:30"]) == 2
    assert capsys.readouterr().out == "no way from ZOO to HBF\n"


def test_what_is_wrong_is_reported_with_file_and_line(town, tmp_path, capsys):
    (tmp_path / "bad.tt").write_text(f"{TEXT}trip\n")
    assert main(["stops", str(tmp_path / "bad.tt")]) == 1
    assert "bad.tt: line 10: expected 2 times, got 0" in capsys.readouterr().err
    assert main(["table", town, "T9"]) == 1
    assert "town.tt: there is no line T9" in capsys.readouterr().err


def test_a_bad_time_is_a_usage_error(town, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["plan", town, "HBF", "ZOO", "--on", "2026-03-02", "--at", "noon"])
    assert "not a time: 'noon'" in capsys.readouterr().err
