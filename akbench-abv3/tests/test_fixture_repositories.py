"""Every declared repository gets exactly the report that stands beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from akbench_abv3.codes import CODES

CASES = yaml.safe_load((Path(__file__).parent / "repositories.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("title", CASES)
def test_a_repository_gets_the_report_that_was_written_for_it(title, repository, abv3):
    case = dict(CASES[title])
    root = repository(
        **{key: case[key] for key in case if key not in ("args", "exit", "codes", "output", "environment")}
    )

    said = abv3("check", "-C", str(root), *case.get("args", ()), environment=case.get("environment"))

    assert said.stdout.replace(str(root), "ROOT") == case["output"]
    assert said.exit_code == case.get("exit", 0)


@pytest.mark.parametrize("title", CASES)
def test_a_report_holds_the_codes_that_are_expected_of_it(title):
    case = CASES[title]
    said = re.findall(r"(?m)^(?:FAIL|WARN) ([ERTW][0-9]{3}) ", case["output"])
    assert sorted(said) == sorted(case.get("codes", []))


def test_there_are_at_least_sixty_repositories_and_valid_ones_among_them():
    assert len(CASES) >= 60
    assert sum(not case.get("codes") for case in CASES.values()) >= 5


def test_every_code_of_a_check_occurs_in_a_repository():
    occurring = {code for case in CASES.values() for code in case.get("codes", ())}
    made_by_running_only = {"R009", "W070"}
    assert set(CODES) - occurring == made_by_running_only


def test_no_report_holds_a_control_character():
    for case in CASES.values():
        assert all(character.isprintable() or character == "\n" for character in case["output"])
