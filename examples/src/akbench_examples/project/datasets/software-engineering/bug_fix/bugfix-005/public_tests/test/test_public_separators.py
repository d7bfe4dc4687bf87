from tabulate import SEPARATING_LINE, tabulate


def test_two_separating_lines_stay_where_they_were_put():
    rows = [["eggs", 1], SEPARATING_LINE, ["spam", 2], SEPARATING_LINE, ["total", 3]]
    assert tabulate(rows, headers=["item", "count"]).splitlines() == [
        "item      count",
        "------  -------",
        "eggs          1",
        "------  -------",
        "spam          2",
        "------  -------",
        "total         3",
    ]
