"""`akbench dataset report`, on the dataset that `akbench dataset new` writes."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from akbench.cli.dataset_new import write_new_dataset
from akbench.cli.extension_commands import extension_commands
from akbench.spec import InputError
from akbench_report.dataset_command import report


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "datasets").mkdir()
    write_new_dataset("mine", root / "datasets" / "mine")
    return root


@pytest.fixture
def page(project, tmp_path):
    def written():
        result = CliRunner().invoke(report, ["mine", "--project", str(project), "--output", str(tmp_path / "site")])
        assert (result.exit_code, result.exception) == (0, None)
        assert result.output.strip() == str(tmp_path / "site" / "index.html")
        return (tmp_path / "site" / "index.html").read_text(encoding="utf-8")

    return written


def test_the_group_dataset_has_the_command():
    assert "(akbench-report " in extension_commands("dataset")["report"]
    assert "report" in extension_commands()
    assert not any("." in name for name in extension_commands())


def test_a_task_is_shown_with_its_sizes_and_that_nothing_vouches_for_it(page):
    text = page()
    row = re.search(r'<tr id="task-slug-001">.*?</tr>', text, re.DOTALL)[0]
    assert "not vouched for" in row
    assert "not known" not in row
    assert len(re.findall(r'<td class="num">[1-9]\d*</td>', row)) == 4
    assert "It was not validated." in text


def test_what_a_dataset_says_of_itself_is_escaped(page, project):
    path = project / "datasets/mine/dataset.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?m)^title: .*$", "title: <script>alert(1)</script>", before), encoding="utf-8")
    try:
        text = page()
    finally:
        path.write_text(before, encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text


def test_every_table_can_be_scrolled(page):
    text = page()
    assert text.count("<table") == text.count('class="scroll" role="region"') > 1


def test_an_unknown_dataset_is_an_input_error(project):
    result = CliRunner().invoke(report, ["no-such", "--project", str(project)])
    assert isinstance(result.exception, InputError)
