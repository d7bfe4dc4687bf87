"""The files of a new L1 repository, from the answers to a few questions. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from akbench_abv3.completed import DEPENDENCY_PATTERN, RECOGNISED, RESULT_FILE_VARIABLE, VARIABLE_PATTERN
from akbench_abv3.stated import DESCRIPTION_FILE, RUN_CONFIG_VARIABLE
from akbench_abv3.writing import toml_string

__all__ = ["SAMPLE_COMMAND", "Answers", "files_of", "wrong_dependency"]

SAMPLE_COMMAND: Final = f'python3 assess.py "${RUN_CONFIG_VARIABLE}"'
_CONFIG: Final = "run_configs/default/smoke.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the questions asked for. A dependency is a recognised name or a variable in capitals."""

    name: str
    role: str
    author: str
    version: str
    command: str
    install: str
    tags: tuple[str, ...]
    dependencies: tuple[str, ...]


def wrong_dependency(name: str) -> str | None:
    """Return why `name` cannot be declared, or None."""
    is_variable = re.match(VARIABLE_PATTERN, name) and re.match(DEPENDENCY_PATTERN, name.lower())
    if name in RECOGNISED or is_variable:
        return None
    return f"{name}: give a variable in capitals, or one of {', '.join(RECOGNISED)}"


def files_of(answers: Answers) -> dict[str, str]:
    """Return the texts of the files, by path. The sample program comes with the sample command."""
    if answers.command != SAMPLE_COMMAND:
        return {DESCRIPTION_FILE: _description(answers), _CONFIG: "{}\n"}
    config = '{\n  "numbers": [1, 2, 3, 4]\n}\n'
    return {DESCRIPTION_FILE: _description(answers), _CONFIG: config, "assess.py": _PROGRAM}


def _description(answers: Answers) -> str:
    sections = [
        _section(
            "abv3_repo",
            name=toml_string(answers.name),
            role=toml_string(answers.role),
            author=toml_string(answers.author),
            version=toml_string(answers.version),
            tags="[" + ", ".join(map(toml_string, answers.tags)) + "]",
        ),
        _section("run", command=toml_string(answers.command)),
        *([_section("install", command=toml_string(answers.install))] if answers.install else []),
        *(_dependency(name) for name in answers.dependencies),
        _section("run_configs", folder=toml_string("./run_configs")),
        _section("results", folder=toml_string("./results")),
    ]
    return "\n".join(sections)


def _dependency(name: str) -> str:
    if name in RECOGNISED:
        return _section(f"dependency.{name}", required="true")
    return _section(f"dependency.{name.lower()}", required="true", type='"env"', env=toml_string(name))


def _section(title: str, **values: str) -> str:
    return f"[{title}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


_PROGRAM: Final = f'''"""One run of the assessment: reads the run config, writes the result."""

import json
import os
import sys
from pathlib import Path

config = json.loads(Path(sys.argv[1]).read_text())

# Replace this by your assessment: here, how many of the numbers are even.
numbers = config["numbers"]
even = [number for number in numbers if number % 2 == 0]

result = {{"count": len(numbers), "main_metric": "even_rate", "even_rate": len(even) / len(numbers)}}
Path(os.environ["{RESULT_FILE_VARIABLE}"]).write_text(json.dumps(result))
print(f"{{len(even)}} of {{len(numbers)}} numbers are even")
'''
