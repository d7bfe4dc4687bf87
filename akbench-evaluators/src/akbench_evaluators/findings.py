"""Findings of analysis tools, whatever they write: SARIF, or JSON as ruff, mypy and many others print it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["FORMATS", "SUPPRESSION", "UnreadableError", "read_findings", "suppressions"]

FORMATS = ("json", "sarif")
SUPPRESSION = "suppression"
_SUPPRESSING = re.compile(
    r"#\s*(?:noqa\b|type:\s*ignore|(?:ruff|flake8):\s*noqa|mypy:\s*\S|pylint:\s*disable|pyright:\s*\S|nosec\b|pragma:\s*no)"
    r"|//\s*(?:eslint-disable|@ts-(?:ignore|nocheck|expect-error)|nolint\b|NOLINT|noinspection)"
    r"|/\*\s*eslint-disable"
)
_SOURCES = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|go|java|kt|rs|c|cc|cpp|h|hpp)$")
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
    """The comments of a source file that silence an analysis tool, as findings."""
    if _SOURCES.search(path) is None:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _SUPPRESSING.search(line):
            yield {"rule": SUPPRESSION, "file": path, "line": number, "message": line[match.start() :].strip()}


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
