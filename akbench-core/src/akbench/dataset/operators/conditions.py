"""Operators on what is compared and decided: comparisons, truth values, conditions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from akbench.dataset.operators.expressions import bare, one_unit, spaces_of, true_or_false, with_parentheses_of

__all__ = [
    "boolean_literal",
    "boolean_operator",
    "comparison_boundary",
    "comparison_negate",
    "comparison_reverse",
    "condition_negate",
    "dropped_filter",
    "negation_drop",
]

_BOUNDARY: dict[type[cst.CSTNode], type[cst.BaseCompOp]] = {
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
}
_REVERSED: dict[type[cst.CSTNode], type[cst.BaseCompOp]] = {
    cst.LessThan: cst.GreaterThan,
    cst.LessThanEqual: cst.GreaterThanEqual,
    cst.GreaterThan: cst.LessThan,
    cst.GreaterThanEqual: cst.LessThanEqual,
}
_NEGATED: dict[type[cst.CSTNode], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_SPACE: dict[type[cst.CSTNode], str] = {
    cst.If: "whitespace_before_test",
    cst.While: "whitespace_after_while",
    cst.IfExp: "whitespace_after_if",
    cst.CompIf: "whitespace_before_test",
}
"""What decides -> its field for the space before the condition, which `not` needs where a parenthesis does not."""


def comparison_boundary(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``<`` for ``<=`` and so on."""
    yield from _exchanged(node, _BOUNDARY)


def comparison_reverse(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``<`` for ``>`` and so on."""
    yield from _exchanged(node, _REVERSED)


def comparison_negate(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``==`` for ``!=``, ``is`` for ``is not``, ``in`` for ``not in``, and the reverse."""
    yield from _exchanged(node, _NEGATED)


def _exchanged(node: cst.CSTNode, table: dict[type[cst.CSTNode], type[cst.BaseCompOp]]) -> Iterator[cst.CSTNode]:
    if type(node) in table and isinstance(node, cst.BaseCompOp):
        yield table[type(node)](**spaces_of(node))


def boolean_operator(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``and`` for ``or`` and the reverse."""
    if isinstance(node, cst.And | cst.Or):
        other = cst.Or if isinstance(node, cst.And) else cst.And
        yield other(**spaces_of(node))


def boolean_literal(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``True`` for ``False`` and the reverse."""
    if true_or_false(node):
        assert isinstance(node, cst.Name), "truth values are names"
        yield node.with_changes(value="False" if node.value == "True" else "True")


def negation_drop(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``not x`` becomes ``x``."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield with_parentheses_of(node, node.expression)


def condition_negate(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``if x`` becomes ``if not x``; a single comparison or a denied condition has operators of its own."""
    if isinstance(node, cst.If | cst.While | cst.IfExp | cst.CompIf) and not _told_otherwise(node.test):
        denied = cst.UnaryOperation(cst.Not(), one_unit(node.test, cst.Comparison))
        yield node.with_changes(test=denied, **{_SPACE[type(node)]: cst.SimpleWhitespace(" ")})


def _told_otherwise(test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.Comparison):
        return len(test.comparisons) == 1
    return isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)


def dropped_filter(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A comprehension without one of its conditions."""
    if isinstance(node, cst.CompFor):
        for at in range(len(node.ifs)):
            yield node.with_changes(ifs=bare(node.ifs, at))
