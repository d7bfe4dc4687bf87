"""Mutations that could be made of a tree, in an order that only a recorded seed decides."""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from akbench.dataset.operators import OPERATORS
from akbench.dataset.tree import Tree
from akbench.spec import InputError

if TYPE_CHECKING:
    from akbench.dataset.operators.sites import Site, Source

__all__ = ["Candidate", "propose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One mutation that could be made: its address, and the code before and after in short.

    `operator_version` belongs to the address; `line` (from 1) is for people.
    """

    file: str
    file_sha256: str
    symbol: str
    operator: str
    operator_version: int
    occurrence: int
    line: int
    before: str
    after: str
    _source: Source = field(repr=False, compare=False)
    _site: Site = field(repr=False, compare=False)

    @property
    def address(self) -> str:
        """``file::symbol operator#occurrence``."""
        return f"{self.file}::{self.symbol} {self.operator}#{self.occurrence}"

    def content(self) -> bytes | None:
        """The mutated file; None if the syntax forbids the change there, or if it means the same as before."""
        try:
            mutated = self._source.changed(self._site)
            return None if _meaning(mutated) == _meaning(self._source.content) else mutated
        except (InputError, SyntaxError, ValueError):
            return None


def _meaning(content: bytes) -> str:
    return ast.dump(ast.parse(content))


def propose(
    tree: Tree,
    *,
    files: Collection[str],
    symbols: Collection[str] = (),
    operators: Collection[str] = (),
    seed: int,
) -> tuple[Candidate, ...]:
    """Every mutation of the files (globs) and symbols (globs of qualified names) by the operators; all, if empty.

    In the order, every operator comes up in turn; within an operator the hash of seed and address decides. Raises
    `InputError` for a glob that matches no file, an unknown operator and a file that is no Python.
    """
    _check_operators(operators)
    found: list[Candidate] = []
    for glob in files:
        if not tree.matching((glob,)):
            raise InputError(f"{glob!r} matches no file of the repository")
    for path in tree.matching(files):
        found += _of_file(os.fsdecode(path), tree.read(path), symbols, operators)
    return tuple(_in_turn(found, seed))


def _check_operators(operators: Iterable[str]) -> None:
    for operator in operators:
        if operator not in OPERATORS:
            raise InputError(f"there is no mutation operator {operator!r}; known: {', '.join(OPERATORS)}")


def _of_file(file: str, content: bytes, symbols: Collection[str], operators: Collection[str]) -> Iterator[Candidate]:
    from akbench.dataset.operators.sites import Source

    source = Source(content, file=file)
    sha256 = hashlib.sha256(content).hexdigest()
    for site in source.sites(frozenset(operators or OPERATORS)):
        if symbols and not any(fnmatch.fnmatchcase(site.symbol, glob) for glob in symbols):
            continue
        before, after = source.shown(site)
        yield Candidate(
            file=file,
            file_sha256=sha256,
            symbol=site.symbol,
            operator=site.operator,
            operator_version=OPERATORS[site.operator].version,
            occurrence=site.occurrence,
            line=site.line,
            before=before,
            after=after,
            _source=source,
            _site=site,
        )


def _in_turn(found: Iterable[Candidate], seed: int) -> list[Candidate]:
    digests = {each.address: hashlib.sha256(f"{seed} {each.address}".encode()).hexdigest() for each in found}
    by_digest = sorted(found, key=lambda each: digests[each.address])
    counts: dict[str, int] = {}
    turns: dict[str, int] = {}
    for each in by_digest:
        turns[each.address] = counts.get(each.operator, 0)
        counts[each.operator] = turns[each.address] + 1
    return sorted(by_digest, key=lambda each: (turns[each.address], digests[each.address]))
