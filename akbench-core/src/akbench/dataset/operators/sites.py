"""Where in a source file which operator applies, and the file with one of these changes made.

An address is (symbol, operator, occurrence): the innermost function or class, by qualified name, and a count from 1 of
what the operator can do within it, in the order of the source. Annotations and blocks for type checkers are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from akbench.dataset.operators import OPERATORS, calls, conditions, flow, numbers
from akbench.spec import InputError

__all__ = ["MODULE", "RULES", "Site", "Source"]

MODULE = "<module>"
"""The symbol of what lies in no function or class."""

type Rule = Callable[[cst.CSTNode], Iterator[cst.CSTNode]]

_SHORT = 60
_MARK = b"\xef\xbb\xbf"

RULES: Mapping[str, Rule] = {
    name: getattr(family, name.replace("-", "_"))
    for family in (calls, conditions, flow, numbers)
    for name in OPERATORS
    if hasattr(family, name.replace("-", "_"))
}
"""Operator id -> what it makes of a node, in a fixed order; nothing for most nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One change that can be made: its address, the line (from 1), and the code before and after in short."""

    symbol: str
    operator: str
    occurrence: int
    line: int
    node: cst.CSTNode
    replacement: cst.CSTNode


class Source:
    """A Python source file as a syntax tree that keeps every byte."""

    def __init__(self, content: bytes, *, file: str) -> None:
        """Raises `InputError` naming `file` if it cannot be parsed, or would not come out as it went in."""
        self.content = content
        self._mark = _MARK if content.startswith(_MARK) else b""
        try:
            module = cst.parse_module(content.removeprefix(_MARK))
            kept = module.bytes == content.removeprefix(_MARK)
        except (cst.ParserSyntaxError, UnicodeError, LookupError) as error:
            raise InputError(f"not a Python source file that can be mutated: {error}", place=file) from error
        if not kept:
            raise InputError("the syntax tree does not keep the file exactly; use a patch instead", place=file)
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._module = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)

    def sites(self, operators: frozenset[str] = frozenset(RULES)) -> tuple[Site, ...]:
        """Every change that `operators` can make, in the order of the source."""
        found = _Sites({name: rule for name, rule in RULES.items() if name in operators}, self._line)
        self._module.visit(found)
        return tuple(found.sites)

    def _line(self, node: cst.CSTNode) -> int:
        return int(self._positions[node].start.line) if node in self._positions else 1

    def changed(self, site: Site) -> bytes:
        """The file with that change made. Raises `InputError` if the syntax forbids it there."""
        try:
            module = self._module.deep_replace(site.node, site.replacement)
            assert isinstance(module, cst.Module), "only what is inside a module is replaced"
            return self._mark + module.bytes
        except (cst.CSTValidationError, UnicodeError) as error:
            raise InputError(f"{site.operator} cannot be applied there: {error}") from error

    def shown(self, site: Site) -> tuple[str, str]:
        """The code before and after, in one short line each."""
        return tuple(_in_short(self._module.code_for_node(node)) for node in (site.node, site.replacement))  # type: ignore[return-value]


class _Sites(cst.CSTVisitor):
    def __init__(self, rules: Mapping[str, Rule], line: Callable[[cst.CSTNode], int]) -> None:
        super().__init__()
        self.sites: list[Site] = []
        self._rules = rules
        self._line = line
        self._symbols: list[str] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.TypeAlias | cst.TypeParameters) or _for_type_checkers(node):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._symbols.append(node.name.value)
        symbol = ".".join(self._symbols) or MODULE
        for operator, rule in self._rules.items():
            for replacement in rule(node):
                self._add(symbol, operator, node, replacement)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self._symbols.pop()

    def _add(self, symbol: str, operator: str, node: cst.CSTNode, replacement: cst.CSTNode) -> None:
        self._counts[symbol, operator] += 1
        occurrence = self._counts[symbol, operator]
        self.sites.append(
            Site(
                symbol=symbol,
                operator=operator,
                occurrence=occurrence,
                line=self._line(node),
                node=node,
                replacement=replacement,
            )
        )


def _for_type_checkers(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.If):
        return False
    name = node.test.attr if isinstance(node.test, cst.Attribute) else node.test
    return isinstance(name, cst.Name) and name.value == "TYPE_CHECKING"


def _in_short(code: str) -> str:
    text = " ".join(code.split())
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
