"""What the documentation says is true: its tables are made from the code, its commands are executed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from akbench_abv3.codes import CODES
from akbench_abv3.completed import RECOGNISED, STATED_DEPENDENCIES

FOLDER = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def codes_table() -> str:
    lines = ["| code | means | to mend it | rule |", "|---|---|---|---|"]
    codes = sorted(CODES.values(), key=lambda code: code.code)
    lines.extend(f"| {one.code} | {one.title} | {one.mend} | {one.mark} |" for one in codes)
    return "\n".join(lines)


def recognised_table() -> str:
    lines = ["| name | gives to the run | may give | mark |", "|---|---|---|---|"]
    for name, known in RECOGNISED.items():
        given = ", ".join(f"`{variable}`" for variable in known.variables)
        if known.login_file:
            login = f"`{known.login_home_variable}` (a folder with `{known.login_file}`)"
            given = f"{given}, or {login}" if given else login
        may = ", ".join(f"`{variable}`" for variable in known.optional_variables)
        mark = "S" if name in STATED_DEPENDENCIES else "C"
        lines.append(f"| `{name}` | {given or '`DOCKER_HOST`, if an engine answers'} | {may} | {mark} |")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("file", "title", "table"),
    [("codes.md", "codes", codes_table), ("format.md", "recognised dependencies", recognised_table)],
)
def test_a_generated_table_is_up_to_date(file, title, table):
    path = FOLDER / "docs" / file
    around = re.compile(rf"(<!-- generated: {title} -->\n).*?(<!-- end -->)", re.DOTALL)
    text = path.read_text(encoding="utf-8")
    wanted = around.sub(lambda match: f"{match[1]}{table()}\n{match[2]}", text)
    if os.environ.get("WRITE_DOCS"):
        path.write_text(wanted, encoding="utf-8")
    assert text == wanted, "run once with WRITE_DOCS=1"


def test_the_format_page_names_every_code_and_no_other():
    named = set(re.findall(r"\b[ERTW]0[0-9]{2}\b", (FOLDER / "docs/format.md").read_text(encoding="utf-8")))
    assert named == set(CODES)


@pytest.fixture
def shell(tmp_path):
    """Run one command line in a folder, with this abv3 first on PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "abv3").write_text(
        f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c 'from akbench_abv3.cli import main; main()' \"$@\"\n"
    )
    (programs / "abv3").chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_the_tutorial_does_what_it_says(tmp_path, shell):
    root = tmp_path / "sums"
    root.mkdir()
    for kind, options, body in BLOCK.findall((FOLDER / "docs/tutorial.md").read_text(encoding="utf-8")):
        option, _, value = options.strip().partition("=")
        if option == "file":
            (root / value).parent.mkdir(parents=True, exist_ok=True)
            (root / value).write_text(body)
        elif option == "append":
            with (root / value).open("a") as stream:
                stream.write(body)
        else:
            assert kind == "console"
            line, *said = body.splitlines()
            done = shell(line.removeprefix("$ "), root)
            errors = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith("moved")]
            shown = done.stdout + "".join(errors)
            assert shown.replace(str(root), "ROOT").splitlines() == said
            assert done.returncode == int(value or 0)


def test_the_quick_start_of_the_readme_works(tmp_path, shell):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    _, quick_start, *_ = (body for kind, _, body in BLOCK.findall(text) if kind == "console")
    folder = tmp_path
    for line in quick_start.splitlines():
        command = line.removeprefix("$ ")
        if command.startswith("cd "):
            folder = folder / command[3:]
            continue
        done = shell(command, folder)
        assert done.returncode == 0, done.stderr
    assert '"even_rate": 0.5' in done.stdout
    assert "even_rate 0.5 (4 data points)" in text


def test_every_option_that_the_readme_names_exists(abv3):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `abv3 (\w+)[^|]*\| (.*) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for name, does in rows:
        helped = abv3(name, "--help").stdout
        for option in re.findall(r"`(--[a-z-]+)", does):
            assert option in helped, f"{name} {option}"
