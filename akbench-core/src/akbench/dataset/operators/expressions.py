"""What the rules of several operators need to know of expressions."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

__all__ = ["SIMPLE", "bare", "is_text", "one_unit", "shifted", "spaces_of", "true_or_false", "with_parentheses_of"]

SIMPLE = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.Integer, cst.Float)
"""Expressions that bind tighter than any operator."""

_LOOSE = (
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Lambda,
    cst.NamedExpr,
    cst.Yield,
    cst.Tuple,
    cst.GeneratorExp,
)
_LARGEST = 1 << 31


def one_unit(expression: cst.BaseExpression, *allowed: type[cst.BaseExpression]) -> cst.BaseExpression:
    """`expression` in parentheses if an operator beside it would tear it apart, unless it is one of `allowed`."""
    if expression.lpar or not isinstance(expression, _LOOSE) or isinstance(expression, allowed):
        return expression
    return expression.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def with_parentheses_of(outer: cst.BaseExpression, inner: cst.BaseExpression) -> cst.BaseExpression:
    """`inner` in the place of `outer`, with the parentheses of both."""
    return inner.with_changes(lpar=[*outer.lpar, *inner.lpar], rpar=[*inner.rpar, *outer.rpar])


def bare[T](items: Sequence[T], at: int) -> list[T]:
    """`items` without the one at index `at`."""
    return [item for index, item in enumerate(items) if index != at]


def true_or_false(node: cst.CSTNode) -> bool:
    """Whether `node` is a truth value as written."""
    return isinstance(node, cst.Name) and node.value in {"True", "False"}


def is_text(expression: cst.BaseExpression) -> bool:
    """Whether an operand shows that text, not numbers, is put together."""
    if isinstance(expression, cst.BinaryOperation):
        return is_text(expression.left) or is_text(expression.right)
    return isinstance(expression, cst.BaseString | cst.List | cst.Tuple)


def shifted(node: cst.CSTNode) -> list[cst.Integer]:
    """A plain decimal integer one up and, unless it is 0, one down."""
    if not isinstance(node, cst.Integer) or not node.value.isdecimal():
        return []
    value = int(node.value)
    steps = (1, -1) if 0 < value < _LARGEST else (1,) if value == 0 else ()
    return [node.with_changes(value=str(value + step)) for step in steps]


def spaces_of(operator: cst.CSTNode) -> dict[str, cst.BaseParenthesizableWhitespace]:
    """The white space around an operator, for the one that takes its place."""
    return {name: getattr(operator, name) for name in ("whitespace_before", "whitespace_after")}
