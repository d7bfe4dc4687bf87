"""Addresses of pages and files."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from akbench_report.links import Place, anchor, segment

NASTY = [
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "a%2Fb",
    "~",
    "a~2f~b",
    ".hidden",
    "ż",
    "a b",
    "con:aux",
    "x" * 300,
    "x" * 299 + "y",
]


@pytest.mark.parametrize("name", NASTY)
def test_no_identifier_leaves_its_folder(tmp_path, name):
    folder = tmp_path / segment(name)
    assert folder.resolve().parent == tmp_path
    folder.mkdir()


def test_distinct_identifiers_have_distinct_folders():
    assert len({segment(name) for name in NASTY}) == len(NASTY)


def test_an_anchor_has_no_spaces():
    assert anchor("runs", "timed out") == "runs-timed_out"


def test_pages_link_to_each_other_relatively(tmp_path):
    place = Place("runs/exp-0001/run-0001/index.html", tmp_path)
    assert place.to("index.html") == "../../../index.html"
    assert place.task("bugfix-001", "all") == "../../../tasks/bugfix-001/index.html#all"


def test_a_link_to_a_file_survives_signs_that_urls_use(tmp_path):
    root = tmp_path / "reports"
    kept = tmp_path / "data" / "50% & #1?.txt"
    url = Place("runs/e/r/index.html", root).file(kept)
    assert not set("#?& ") & set(url)
    assert (root / "runs/e/r" / unquote(url)).resolve() == kept


def test_a_link_to_a_file_is_right_across_a_symbolic_link(tmp_path):
    real = tmp_path / "elsewhere" / "deep" / "data"
    real.mkdir(parents=True)
    (real / "diff.patch").touch()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "data").symlink_to(real)
    root = tmp_path / "project" / "reports"
    url = Place("index.html", root).file(tmp_path / "project" / "data" / "diff.patch")
    root.mkdir()
    assert (root / unquote(url)).exists()


@pytest.mark.parametrize(
    "name", ["page.html", "PAGE.HTM", "x.svg", "x.xml", "x.xhtml", "x.js", "noname", "x.log.mhtml"]
)
def test_nothing_that_a_browser_executes_is_linked(tmp_path, name):
    assert Place("index.html", tmp_path).file(tmp_path / name) is None
