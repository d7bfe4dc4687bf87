"""What commands print for people fits a page where there is no terminal."""

import pytest

from akbench.cli.output import print_findings


def test_findings_fit_a_page_and_no_word_of_them_is_broken(capsys: pytest.CaptureFixture[str]):
    path = "/a/path/that/is/" + "very/" * 20 + "long"
    told = "it was told at length " * 20
    print_findings([("ok", "python", "3.12", ""), ("warning", "a thing", told + path, "mend it by hand " * 10)])
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if path not in line) <= 100
    assert any(path in line for line in lines)
    assert lines[1] == " ok        python    3.12"
    assert (
        " ".join(" ".join(lines[2:]).split()) == f"warning a thing {told}{path} mend: {'mend it by hand ' * 10}".strip()
    )
    assert {line[: len(" warning   a thing   ")].strip() for line in lines[3:]} == {""}


def test_findings_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]):
    print_findings([("ok", "a\x1b[2J", "b\nc\x1b[31m", "")])
    assert capsys.readouterr().out.split() == ["ok", "a\\x1b[2J", "b", "c\\x1b[31m"]
