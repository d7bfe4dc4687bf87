"""Operators on what is calculated: arithmetic, integers, bounds and indices."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from akbench.dataset.operators.expressions import SIMPLE, is_text, one_unit, shifted, spaces_of, with_parentheses_of

__all__ = [
    "arithmetic_operator",
    "augmented_assignment",
    "bound_shift",
    "index_end",
    "integer_literal",
    "sign_drop",
    "swapped_operands",
]

_COUNTERPARTS: dict[type[cst.CSTNode], type[cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.Add,
    cst.Divide: cst.FloorDivide,
    cst.FloorDivide: cst.Divide,
    cst.Modulo: cst.FloorDivide,
    cst.Power: cst.Multiply,
    cst.LeftShift: cst.RightShift,
    cst.RightShift: cst.LeftShift,
    cst.BitAnd: cst.BitOr,
    cst.BitOr: cst.BitAnd,
    cst.BitXor: cst.BitOr,
}
_AUGMENTED: dict[type[cst.CSTNode], type[cst.BaseAugOp]] = {
    cst.AddAssign: cst.SubtractAssign,
    cst.SubtractAssign: cst.AddAssign,
    cst.MultiplyAssign: cst.AddAssign,
    cst.DivideAssign: cst.FloorDivideAssign,
    cst.FloorDivideAssign: cst.DivideAssign,
    cst.BitAndAssign: cst.BitOrAssign,
    cst.BitOrAssign: cst.BitAndAssign,
    cst.LeftShiftAssign: cst.RightShiftAssign,
    cst.RightShiftAssign: cst.LeftShiftAssign,
}
_ORDERED = (cst.Subtract, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power, cst.LeftShift, cst.RightShift)


def arithmetic_operator(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Another operator between two operands that are not shown to be text or a sequence."""
    if isinstance(node, cst.BinaryOperation) and type(node.operator) in _COUNTERPARTS and not is_text(node):
        counterpart = _COUNTERPARTS[type(node.operator)]
        yield node.with_changes(operator=counterpart(**spaces_of(node.operator)))


def swapped_operands(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Simple operands exchanged where their order matters."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, _ORDERED):
        return
    if isinstance(node.left, SIMPLE) and isinstance(node.right, SIMPLE) and not node.left.deep_equals(node.right):
        yield node.with_changes(left=node.right, right=node.left)


def augmented_assignment(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``n += 1`` becomes ``n -= 1``, and ``n = 1``."""
    if not isinstance(node, cst.AugAssign):
        return
    if type(node.operator) in _AUGMENTED and not is_text(node.value):
        counterpart = _AUGMENTED[type(node.operator)]
        yield node.with_changes(operator=counterpart(**spaces_of(node.operator)))
    yield cst.Assign(targets=[cst.AssignTarget(node.target)], value=node.value, semicolon=node.semicolon)


def integer_literal(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A plain integer one up, one down."""
    yield from shifted(node)


def bound_shift(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A bound that is no plain integer one up, one down: of a slice, or of ``range``."""
    if isinstance(node, cst.Slice):
        for name in ("lower", "upper"):
            bound = getattr(node, name)
            if bound is not None:
                yield from (node.with_changes(**{name: moved}) for moved in _moved(bound))
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "range":
        for at, argument in enumerate(node.args[:2]):
            if not argument.star:
                for moved in _moved(argument.value):
                    changed = argument.with_changes(value=moved)
                    yield node.with_changes(args=[*node.args[:at], changed, *node.args[at + 1 :]])


def _moved(bound: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(bound, cst.Integer | cst.UnaryOperation):
        return
    if isinstance(bound, cst.BinaryOperation) and _adds_one(bound):
        yield with_parentheses_of(bound, bound.left)
        return
    for operator in (cst.Add(), cst.Subtract()):
        yield cst.BinaryOperation(one_unit(bound), operator, cst.Integer("1"))


def _adds_one(sum_: cst.BinaryOperation) -> bool:
    return isinstance(sum_.operator, cst.Add | cst.Subtract) and _is_integer(sum_.right, "1")


def _is_integer(expression: cst.BaseExpression, text: str) -> bool:
    return isinstance(expression, cst.Integer) and expression.value == text


def index_end(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``xs[0]`` becomes ``xs[-1]`` and the reverse."""
    if not isinstance(node, cst.Index):
        return
    last = cst.UnaryOperation(cst.Minus(), cst.Integer("1"))
    if _is_integer(node.value, "0"):
        yield node.with_changes(value=last)
    elif node.value.deep_equals(last):
        yield node.with_changes(value=cst.Integer("0"))


def sign_drop(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``-x`` becomes ``x``."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        yield with_parentheses_of(node, node.expression)
