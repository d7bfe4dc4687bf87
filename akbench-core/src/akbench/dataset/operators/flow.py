"""Operators on what is done at all: branches, guards, statements, loops, exceptions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from akbench.dataset.operators.expressions import bare

__all__ = [
    "caught_exception",
    "dropped_branch",
    "dropped_guard",
    "dropped_handler",
    "dropped_statement",
    "loop_control",
    "raised_exception",
]

_SIBLINGS = {
    "ArithmeticError": "ZeroDivisionError",
    "AttributeError": "TypeError",
    "Exception": "ValueError",
    "FileNotFoundError": "PermissionError",
    "ImportError": "ModuleNotFoundError",
    "IndexError": "KeyError",
    "KeyError": "IndexError",
    "LookupError": "KeyError",
    "NotImplementedError": "TypeError",
    "OSError": "FileNotFoundError",
    "OverflowError": "ValueError",
    "RuntimeError": "ValueError",
    "StopIteration": "IndexError",
    "TypeError": "ValueError",
    "UnicodeDecodeError": "UnicodeEncodeError",
    "UnicodeError": "UnicodeDecodeError",
    "ValueError": "TypeError",
    "ZeroDivisionError": "OverflowError",
}
_LEAVING = (cst.Return, cst.Raise, cst.Continue, cst.Break)


def dropped_branch(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """An ``elif`` or ``else`` gone; of a loop, its ``else``."""
    if isinstance(node, cst.If) and isinstance(node.orelse, cst.If):
        yield node.with_changes(orelse=node.orelse.orelse)
    elif isinstance(node, cst.If | cst.For | cst.While) and node.orelse is not None:
        yield node.with_changes(orelse=None)


def dropped_guard(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A block without an ``if`` that does nothing but leave early at its end."""
    if isinstance(node, cst.IndentedBlock) and len(node.body) > 1:
        for at, statement in enumerate(node.body):
            if isinstance(statement, cst.If) and statement.orelse is None and _leaves(statement.body):
                yield node.with_changes(body=bare(node.body, at))


def _leaves(suite: cst.BaseSuite) -> bool:
    last = suite.body[-1] if suite.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, _LEAVING)


def dropped_statement(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A block without a call, or without a change of something that stays: an attribute, an item, a total."""
    if isinstance(node, cst.IndentedBlock) and len(node.body) > 1:
        for at, statement in enumerate(node.body):
            if isinstance(statement, cst.SimpleStatementLine) and all(map(_acts, statement.body)):
                yield node.with_changes(body=bare(node.body, at))


def _acts(statement: cst.BaseSmallStatement) -> bool:
    if isinstance(statement, cst.Expr):
        value = statement.value.expression if isinstance(statement.value, cst.Await) else statement.value
        return isinstance(value, cst.Call)
    if isinstance(statement, cst.Assign):
        return any(isinstance(each.target, cst.Attribute | cst.Subscript) for each in statement.targets)
    return isinstance(statement, cst.AugAssign | cst.Del)


def loop_control(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``break`` for ``continue`` and the reverse."""
    if isinstance(node, cst.Break):
        yield cst.Continue(semicolon=node.semicolon)
    elif isinstance(node, cst.Continue):
        yield cst.Break(semicolon=node.semicolon)


def dropped_handler(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A ``try`` without one of several handlers, or without its ``finally``."""
    if not isinstance(node, cst.Try):
        return
    if len(node.handlers) > 1:
        for at in range(len(node.handlers)):
            yield node.with_changes(handlers=bare(node.handlers, at))
    if node.handlers and node.finalbody is not None:
        yield node.with_changes(finalbody=None)


def caught_exception(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A handler for another exception, or for one of several less."""
    if not isinstance(node, cst.ExceptHandler):
        return
    if isinstance(node.type, cst.Name) and node.type.value in _SIBLINGS:
        yield node.with_changes(type=node.type.with_changes(value=_SIBLINGS[node.type.value]))
    elif isinstance(node.type, cst.Tuple) and len(node.type.elements) > 1:
        for at in range(len(node.type.elements)):
            yield node.with_changes(type=_without_member(node.type, at))


def _without_member(caught: cst.Tuple, at: int) -> cst.BaseExpression:
    kept = bare(caught.elements, at)
    if len(kept) == 1:
        return kept[0].value
    if at == len(caught.elements) - 1:
        kept[-1] = kept[-1].with_changes(comma=caught.elements[at].comma)
    return caught.with_changes(elements=kept)


def raised_exception(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Another exception raised."""
    if not isinstance(node, cst.Raise):
        return
    raised = node.exc
    if isinstance(raised, cst.Name) and raised.value in _SIBLINGS:
        yield node.with_changes(exc=raised.with_changes(value=_SIBLINGS[raised.value]))
    elif isinstance(raised, cst.Call) and isinstance(raised.func, cst.Name) and raised.func.value in _SIBLINGS:
        name = raised.func.with_changes(value=_SIBLINGS[raised.func.value])
        yield node.with_changes(exc=raised.with_changes(func=name))
