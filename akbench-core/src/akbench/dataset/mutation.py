"""Controlled changes of one file, checked against all that their author knew of it; one function per way."""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Iterator

from akbench.dataset.format import MutationPart
from akbench.dataset.operators import operator_of
from akbench.dataset.unified_diff import Hunk, apply_hunks, parse_hunks
from akbench.spec import InputError

__all__ = ["apply_mutation", "apply_operator", "apply_replace_line", "apply_unified_diff"]

_MODULE = "<module>"
_LINE_END = re.compile(rb"\r\n|\r|\n")


def apply_mutation(content: bytes, part: MutationPart) -> bytes:
    """The file's content after the mutation `part`.

    Raises `InputError` if the file before it or after it is not the one whose hash is written down, or for anything
    else that does not fit exactly.
    """
    _check_hash(content, part.file_sha256, part.file)
    mutated = _mutated(content, part)
    if mutated == content:
        raise InputError("the mutation changes nothing", place=part.file)
    found = hashlib.sha256(mutated).hexdigest()
    if part.result_sha256 not in {None, found}:
        raise InputError(f"result_sha256 is {part.result_sha256}, but the mutated file's is {found}", place=part.file)
    return mutated


def _mutated(content: bytes, part: MutationPart) -> bytes:
    if part.operator is not None:
        choice = part.operator
        return apply_operator(
            content,
            file=part.file,
            symbol=part.symbol or _MODULE,
            operator=choice.id,
            version=choice.version,
            occurrence=choice.occurrence,
        )
    if part.patch is not None:
        return apply_unified_diff(content, file=part.file, symbol=part.symbol, diff=part.patch)
    line = part.replace_line
    assert line is not None, "the model has exactly one of three ways"
    return apply_replace_line(
        content,
        file=part.file,
        file_sha256=part.file_sha256,
        symbol=part.symbol or _MODULE,
        line=line.line,
        before=line.before,
        after=line.after,
    )


def apply_operator(content: bytes, *, file: str, symbol: str, operator: str, version: int, occurrence: int) -> bytes:
    """The content of a Python file with one change by a mutation operator; every other byte stays.

    `symbol` is the innermost function or class around the change, by qualified name; `occurrence` counts from 1 what
    the operator can do there. Raises `InputError` that says what there is instead.
    """
    operator_of(operator, version)
    from akbench.dataset.operators.sites import Source

    source = Source(content, file=file)
    sites = [site for site in source.sites(frozenset({operator})) if site.symbol == symbol]
    if occurrence > len(sites):
        found = f"{len(sites)} places" if sites else "no place"
        raise InputError(f"{operator} has {found} in {symbol!r}, so there is no occurrence {occurrence}", place=file)
    site = sites[occurrence - 1]
    mutated = source.changed(site)
    _parse(mutated, "mutated, the file is no Python any more", f"{file}:{site.line}")
    return mutated


def apply_unified_diff(content: bytes, *, file: str, symbol: str | None, diff: str) -> bytes:
    """The content of a file with a unified diff applied exactly.

    With a `symbol`, the file is Python before and after, and every changed line lies in that function or class.
    Without, any UTF-8 text will do. Raises `InputError` with the place that does not fit.
    """
    hunks = parse_hunks(diff)
    encoding = "utf-8" if symbol is None else _encoding(content, file)
    if symbol is not None:
        _check_hunks(_parse(content, "the file cannot be mutated", file), symbol, hunks, file)
    try:
        mutated = apply_hunks(content.decode(encoding), hunks, file=file).encode(encoding)
    except UnicodeError as error:
        raise InputError(f"the patch and the file do not agree in {encoding}: {error}", place=file) from error
    if symbol is not None:
        _parse(mutated, "patched, the file is no Python any more", file)
    return mutated


def _check_hunks(module: ast.Module, symbol: str, hunks: tuple[Hunk, ...], file: str) -> None:
    for hunk in hunks:
        for line in hunk.changed:
            _check_symbol(module, symbol, line, f"{file}:{line}")


def apply_replace_line(
    content: bytes, *, file: str, file_sha256: str, symbol: str, line: int, before: str, after: str
) -> bytes:
    """The content of a Python file with one exact line replaced by another; the line's ending stays.

    - `file`: the file's path, for messages; `file_sha256`: of the whole file before this mutation.
    - `symbol`: the qualified name (``Class.method``) of a function or class around the line.
    - `line`: counted from 1; `before` and `after`: its text, without the ending.

    Raises `InputError` that says what was expected and what was found.
    """
    _check_hash(content, file_sha256, file)
    encoding = _encoding(content, file)
    place = f"{file}:{line}"
    _check_symbol(_parse(content, "the file cannot be mutated", file), symbol, line, place)
    start, end = _line_bounds(content, line, place)
    found = content[start:end].decode(encoding)
    if found != before:
        raise InputError(f"`before` is {before!r}, but the line is {found!r}", place=place)
    if before == after:
        raise InputError("`before` and `after` are the same; a mutation must change something", place=place)
    mutated = content[:start] + _encoded(after, encoding, place) + content[end:]
    _parse(mutated, "with `after` in place the file is no Python any more", place)
    return mutated


def _check_hash(content: bytes, expected: str, place: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise InputError(
            f"file_sha256 is {expected}, but the file's is {found}; is it another release, "
            "or does another mutation come first?",
            place=place,
        )


def _encoding(content: bytes, place: str) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        raise InputError(f"not a Python source file: {error}", place=place) from error
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _parse(content: bytes, complaint: str, place: str) -> ast.Module:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{complaint}: {error}", place=place) from error


def _check_symbol(module: ast.Module, symbol: str, line: int, place: str) -> None:
    if symbol == _MODULE:
        return
    around = [name for name, first, last in _symbols(module, "") if first <= line <= last]
    if symbol not in around:
        there = ", ".join(around) or "nothing; the line is at the module's top"
        raise InputError(f"symbol {symbol!r} does not enclose the line; found around it: {there}", place=place)


def _symbols(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
    """Every function and class with its first and last line, decorators included, the outer before the inner."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + child.name
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield name, first, child.end_lineno or child.lineno
            yield from _symbols(child, f"{name}.")
        else:
            yield from _symbols(child, prefix)


def _line_bounds(content: bytes, line: int, place: str) -> tuple[int, int]:
    """Where the line's text starts and ends; a byte order mark and the line's ending are no part of it."""
    mark = len(b"\xef\xbb\xbf") if content.startswith(b"\xef\xbb\xbf") else 0
    ends = list(_LINE_END.finditer(content))
    starts = [mark, *(end.end() for end in ends)]
    stops = [*(end.start() for end in ends), len(content)]
    if not 1 <= line <= len(starts):
        raise InputError(f"the file has only {len(starts)} lines", place=place)
    return starts[line - 1], stops[line - 1]


def _encoded(text: str, encoding: str, place: str) -> bytes:
    if _LINE_END.search(text.encode("utf-8", "surrogatepass")):
        raise InputError("`after` holds a line break; this mutation replaces one line by one line", place=place)
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise InputError(f"`after` cannot be written in the file's encoding: {error}", place=place) from error
