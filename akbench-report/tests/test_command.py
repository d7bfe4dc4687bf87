"""`akbench report`, run on a project."""

from __future__ import annotations

import json
from importlib.metadata import entry_points

import pytest
from click.testing import CliRunner

from akbench.spec import ExporterRecord, InputError
from akbench_report import hooks
from akbench_report.command import report


def _run(*arguments):
    return CliRunner().invoke(report, [str(argument) for argument in arguments])


def test_the_report_goes_below_the_project_and_its_path_is_printed(tmp_path):
    (tmp_path / "data").mkdir()
    result = _run("--project", tmp_path)
    assert (result.exit_code, result.exception) == (0, None)
    assert result.output.strip() == str(tmp_path / "reports" / "index.html")
    assert (tmp_path / "reports" / "index.html").is_file()


def test_the_current_folder_is_the_default_project(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    assert _run().exit_code == 0
    assert (tmp_path / "reports" / "index.html").is_file()


def test_output_and_json(tmp_path):
    (tmp_path / "data").mkdir()
    result = _run("--project", tmp_path, "--output", tmp_path / "elsewhere", "--json", "--all")
    assert json.loads(result.output) == {"report": str(tmp_path / "elsewhere" / "index.html")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--experiment", "exp-0001"], "no experiment exp-0001"),
        (["--experiment", "exp-0001", "--all"], "exclude each other"),
    ],
)
def test_a_wrong_choice_is_an_input_error(tmp_path, arguments, message):
    (tmp_path / "data").mkdir()
    error = _run("--project", tmp_path, *arguments).exception
    assert isinstance(error, InputError)
    assert error.exit_code == 2
    assert message in str(error)


def test_a_folder_without_data_is_an_input_error_that_names_the_mend(tmp_path):
    error = _run("--project", tmp_path).exception
    assert isinstance(error, InputError)
    assert "--project" in str(error)
    assert not (tmp_path / "reports").exists()


def test_the_command_and_the_exporter_are_found_through_entry_points():
    (command,) = entry_points(group="akbench.commands", name="report")
    assert command.load() is report
    (extension,) = entry_points(group="akbench", name="akbench-report")
    assert extension.load() is hooks


def test_the_exporter_names_a_function_that_exists():
    (record,) = hooks.akbench_register_exporters()
    assert isinstance(record, ExporterRecord)
    module, _, name = record.target.partition(":")
    assert callable(getattr(__import__(module, fromlist=[name]), name))
