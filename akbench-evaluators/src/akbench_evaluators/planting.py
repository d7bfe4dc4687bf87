"""A test that must fail, written into the source of a test file before any tested code has run; pure.

It stands between two definitions where blank lines leave room for it, or at the end. So no line of the file moves:
there are tests that know the numbers of their own lines.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Planted", "fresh_name", "plant", "usual_words"]

_PLAIN_WORDS = ("after", "empty", "is", "keeps", "of", "order", "returns", "same", "value", "with")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LINES = 2


@dataclass(frozen=True)
class Planted:
    """The name of the planted test, and the source that has it."""

    name: str
    source: bytes


def plant(source: bytes, chance: random.Random, taken: bytes = b"") -> Planted | None:
    """Plant one failing test; None for a source that defines no test, or that is no Python.

    `chance` decides place, name and body; the name stands neither in the source nor in `taken`.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = [name for name in _definitions(module) if name.lower().startswith("test")]
    if not names:
        return None
    name = fresh_name(usual_words(names), source + taken, chance)
    lines = source.splitlines(keepends=True)
    newline = b"\r\n" if lines[0].endswith(b"\r\n") else b"\n"
    test = [f"def {name}():".encode() + newline, f"    {_falsehood(chance)}".encode() + newline]
    place = chance.choice([*_gaps(module, lines), len(lines)])
    if place < len(lines):
        lines[place : place + _LINES] = test
    else:
        open_end = lines[-1] if lines[-1].endswith((b"\n", b"\r")) else lines[-1] + newline
        lines[-1:] = [open_end, newline, newline, *test]
    return Planted(name=name, source=b"".join(lines))


def _definitions(module: ast.Module) -> Iterator[str]:
    """Names of functions, methods and classes."""
    return (node.name for node in ast.walk(module) if isinstance(node, _DEFINITIONS))


def _gaps(module: ast.Module, lines: list[bytes]) -> Iterator[int]:
    """The first of two or more blank lines behind a definition, at the module's own level."""
    for statement in module.body:
        end = statement.end_lineno
        if not isinstance(statement, _DEFINITIONS) or end is None:
            continue
        blank = 0
        while end + blank < len(lines) and not lines[end + blank].strip():
            blank += 1
        if blank >= _LINES and end + blank < len(lines):
            yield end + (blank - _LINES) // 2


def usual_words(names: Iterable[str]) -> list[str]:
    """The words that names of tests are made of, and some that are in most suites."""
    return sorted({word for name in names for word in name.lower().split("_")[1:] if word} | {*_PLAIN_WORDS})


def fresh_name(words: list[str], taken: bytes, chance: random.Random) -> str:
    """A test's name of these words, so that no pattern gives it away, which does not stand in `taken`."""
    while True:
        name = "_".join(("test", *chance.sample(words, chance.randint(2, 5))))
        if name.isidentifier() and name.encode() not in taken:
            return name


def _falsehood(chance: random.Random) -> str:
    """An assertion that looks like many others and does not hold."""
    numbers = [chance.randrange(2, 90) for _ in range(chance.randint(2, 4))]
    off = chance.randint(1, 3)
    return "assert " + chance.choice(
        (
            f"sum({numbers}) == {sum(numbers) + off}",
            f"sorted({numbers}) == {[*sorted(numbers)[1:], sorted(numbers)[0] - off]}",
            f"max({numbers}) == {max(numbers) + off}",
            f"divmod({numbers[0] + 90}, {numbers[1]}) == {divmod(numbers[0] + 90, numbers[1] + off)}",
            f"list(range({numbers[0]}, {numbers[0] + 3})) == {[*range(numbers[0] + off, numbers[0] + off + 3)]}",
        )
    )
