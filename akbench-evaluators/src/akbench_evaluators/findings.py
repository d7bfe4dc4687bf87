"""Findings of analysis tools, whatever they write: SARIF, or JSON as ruff, mypy and many others print it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["FORMATS", "LARGEST_SOURCE", "SUPPRESSION", "UnreadableError", "read_findings", "suppressions", "unseen"]

FORMATS = ("json", "sarif")
SUPPRESSION = "suppression"
_SUPPRESSING = re.compile(
    r"#\s*(?i:noqa\b|nosec\b|nosemgrep\b|nosonar\b|pragma:\s*no|(?:ruff|flake8)\s*:\s*(?:noqa|disable|ignore|file-ignore)"
    r"|(?:ruff\s*:\s*)?isort\s*:\s*(?:off|skip)|pylint\s*:\s*(?:disable|skip)|lint-(?:ignore|fixme))"
    r"|#\s*(?:type:\s*ignore|mypy:\s*\S|(?:based)?pyright:\s*\S|(?:pyrefly|ty):\s*ignore|pyre-(?:ignore|fixme))"
    r"|\bno_type_check\b"
    r"|//\s*(?:eslint-disable|@ts-(?:ignore|nocheck|expect-error)|nolint\b|NOLINT|noinspection)"
    r"|/\*\s*eslint-disable"
)
_SOURCES = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|go|java|kt|rs|c|cc|cpp|h|hpp)$")
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:\.[^/]+|__pypackages__|__pycache__|_build|buck-out|dist|node_modules|site-packages|venv)/"
)
"""Folders that ruff or mypy pass over without being told so."""
_PYTHON = re.compile(r"\.pyi?$")
_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
LARGEST_SOURCE = 4 << 20
"""Bytes of a source file that are looked through for what silences a tool."""
_FILE_KEYS = ("file", "filename", "path", "uri")
_RULE_KEYS = ("rule", "code", "ruleId", "check", "symbol")
_LINE_KEYS = ("line", "row", "lineno", "startLine")
_NOTES = frozenset(("note", "none"))


class UnreadableError(ValueError):
    """The tool's output is not of the format that it should have."""


def read_findings(output: str, form: str, root: str) -> Iterator[dict[str, Any]]:
    """Each finding: rule, file relative to `root`, line (0 if none is told), message. Raises `UnreadableError`."""
    try:
        found = list(_sarif(json.loads(output)) if form == "sarif" else _listed(_items(output)))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise UnreadableError(f"its output is no {form}: {error}: {output.strip()[:200]!r}") from error
    for finding in found:
        yield {**finding, "file": _relative(finding["file"], root)}


def suppressions(text: str, path: str) -> Iterator[dict[str, Any]]:
    """What silences an analysis tool in a source file, as findings."""
    if _SOURCES.search(path) is None:
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _SUPPRESSING.search(line):
            yield _suppression(path, line[match.start() :].strip(), number)


def unseen(content: bytes, path: str, *, beside: frozenset[str] = frozenset()) -> Iterator[dict[str, Any]]:
    """Why an analysis tool may not see what is in a source file, as findings about the whole of it.

    `beside`: the names of the files in its folder.
    """
    if _SOURCES.search(path) is None:
        return
    if folder := _LEFT_OUT.search(path):
        yield _suppression(path, f"lies in a folder that tools leave out: {folder[0].strip('/')}")
    if len(content) > LARGEST_SOURCE:
        yield _suppression(path, f"is larger than {LARGEST_SOURCE} bytes, which is not looked through")
    if path.endswith(".pyi") and os.path.basename(path).removesuffix("i") in beside:  # noqa: PTH119 - a foreign path
        yield _suppression(path, "is a stub that hides the module beside it from type checkers")
    if _PYTHON.search(path) and (reason := _foreign_encoding(content)):
        yield _suppression(path, reason)


def _suppression(path: str, message: str, line: int = 0) -> dict[str, Any]:
    return {"rule": SUPPRESSION, "file": path, "line": line, "message": message}


def _foreign_encoding(content: bytes) -> str | None:
    """Why a tool that reads UTF-8 does not see what Python runs."""
    for line in content.split(b"\n", 2)[:2]:
        declared = _ENCODING.match(line)
        if declared and declared[1].lower().replace(b"_", b"-") not in {b"utf-8", b"utf8", b"ascii", b"us-ascii"}:
            return f"is declared to be {declared[1].decode('ascii', 'replace')}, not UTF-8"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"is not UTF-8: {error.reason} at byte {error.start}"
    return None


def _items(output: str) -> list[Any]:
    """A JSON list, one under a key, or JSON Lines."""
    text = output.strip()
    if not text:
        return []
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        return lists[0] if lists else [value]
    if not isinstance(value, list):
        raise TypeError("neither a list nor an object")
    return value


def _listed(items: list[Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        if str(item.get("severity", "")).lower() in _NOTES:
            continue
        if _first(item, (*_FILE_KEYS, *_RULE_KEYS)) is None:
            raise KeyError("an object that names neither a file nor a rule")
        where = item.get("location") if isinstance(item.get("location"), dict) else item
        yield {
            "rule": str(_first(item, _RULE_KEYS) or "none"),
            "file": str(_first(item, _FILE_KEYS) or _first(where, _FILE_KEYS) or ""),
            "line": int(_first(where, _LINE_KEYS) or _first(item, _LINE_KEYS) or 0),
            "message": str(item.get("message", "")),
        }


def _sarif(value: Any) -> Iterator[dict[str, Any]]:
    for run in value["runs"]:
        for result in run.get("results") or []:
            if result.get("level") in _NOTES or result.get("suppressions"):
                continue
            places = result.get("locations") or [{}]
            place = places[0].get("physicalLocation", {})
            yield {
                "rule": str(result.get("ruleId") or result.get("rule", {}).get("id") or "none"),
                "file": str(place.get("artifactLocation", {}).get("uri", "")),
                "line": int(place.get("region", {}).get("startLine", 0)),
                "message": str(result.get("message", {}).get("text", "")),
            }


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _relative(file: str, root: str) -> str:
    path = unquote(urlsplit(file).path) if file.startswith("file:") else file
    if not path:
        return path
    return os.path.normpath(os.path.relpath(path, root) if os.path.isabs(path) else path)  # noqa: PTH117 - foreign
