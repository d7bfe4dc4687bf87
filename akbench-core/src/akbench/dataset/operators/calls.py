"""Operators on what is called and with what: functions, arguments, defaults, decorators, await."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from akbench.dataset.operators.expressions import bare, shifted, true_or_false, with_parentheses_of

__all__ = [
    "dropped_call",
    "dropped_decorator",
    "dropped_default",
    "dropped_keyword",
    "removed_await",
    "swapped_arguments",
    "swapped_callee",
    "wrong_default",
]


def _both_ways(**pairs: str) -> dict[str, str]:
    return {**pairs, **{second: first for first, second in pairs.items()}}


_FUNCTIONS = _both_ways(min="max", any="all", ceil="floor")
_METHODS = {
    **_FUNCTIONS,
    **_both_ways(
        lstrip="rstrip",
        startswith="endswith",
        find="rfind",
        index="rindex",
        split="rsplit",
        partition="rpartition",
        popleft="pop",
        upper="lower",
        issubset="issuperset",
        union="intersection",
        ljust="rjust",
        appendleft="append",
    ),
}
_CONVERSIONS = frozenset({"abs", "bool", "frozenset", "int", "list", "reversed", "set", "sorted", "str", "tuple"})
_COPIES = frozenset({"copy", "casefold", "lower", "lstrip", "rstrip", "strip", "upper"})
_FALLBACKS = {"get": 2, "pop": 2, "setdefault": 2}
_FALLBACK_FUNCTIONS = {"getattr": 3, "next": 2}
_BINDING = frozenset(
    {
        "abstractmethod",
        "classmethod",
        "dataclass",
        "deleter",
        "fixture",
        "overload",
        "property",
        "setter",
        "staticmethod",
    }
)


def _called(node: cst.Call) -> str | None:
    if isinstance(node.func, cst.Name):
        return node.func.value
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else None


def swapped_callee(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``min`` for ``max``, ``x.lstrip`` for ``x.rstrip``, and so on."""
    if not isinstance(node, cst.Call):
        return
    if isinstance(node.func, cst.Name) and node.func.value in _FUNCTIONS:
        yield node.with_changes(func=node.func.with_changes(value=_FUNCTIONS[node.func.value]))
    elif isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS:
        name = node.func.attr.with_changes(value=_METHODS[node.func.attr.value])
        yield node.with_changes(func=node.func.with_changes(attr=name))


def dropped_call(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``x.strip()`` and ``list(x)`` become ``x``."""
    if not isinstance(node, cst.Call):
        return
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in _COPIES and not node.args:
        yield with_parentheses_of(node, node.func.value)
    elif isinstance(node.func, cst.Name) and node.func.value in _CONVERSIONS and len(node.args) == 1:
        only = node.args[0]
        if not only.star and only.keyword is None and not isinstance(only.value, cst.GeneratorExp):
            yield with_parentheses_of(node, only.value)


def swapped_arguments(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Two neighbouring positional arguments exchanged."""
    if not isinstance(node, cst.Call):
        return
    for at in range(len(node.args) - 1):
        first, second = node.args[at], node.args[at + 1]
        plain = not (first.star or second.star or first.keyword or second.keyword)
        if plain and not first.value.deep_equals(second.value):
            swapped = [first.with_changes(value=second.value), second.with_changes(value=first.value)]
            yield node.with_changes(args=[*node.args[:at], *swapped, *node.args[at + 2 :]])


def dropped_keyword(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A call without one of its keyword arguments."""
    if isinstance(node, cst.Call):
        for at, argument in enumerate(node.args):
            if argument.keyword is not None:
                yield _without_argument(node, at)


def dropped_default(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``d.get(k, v)``, ``d.pop(k, v)``, ``getattr(o, n, v)`` and ``next(i, v)`` without the fallback."""
    if not isinstance(node, cst.Call) or any(each.star or each.keyword for each in node.args):
        return
    full = _FALLBACK_FUNCTIONS if isinstance(node.func, cst.Name) else _FALLBACKS
    if full.get(_called(node) or "") == len(node.args):
        yield _without_argument(node, len(node.args) - 1)


def _without_argument(node: cst.Call, at: int) -> cst.Call:
    kept = bare(node.args, at)
    if kept and at == len(node.args) - 1:
        kept[-1] = kept[-1].with_changes(comma=node.args[at].comma)
    return node.with_changes(args=kept)


def wrong_default(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Another truth value or integer as the default of a parameter."""
    if not isinstance(node, cst.Param) or node.default is None:
        return
    default = node.default
    if true_or_false(default):
        assert isinstance(default, cst.Name), "truth values are names"
        yield node.with_changes(default=default.with_changes(value="False" if default.value == "True" else "True"))
    yield from (node.with_changes(default=moved) for moved in shifted(default))


def dropped_decorator(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A function or class without one of its decorators, those left out that change how it is bound."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        for at, decorator in enumerate(node.decorators):
            if _decorating(decorator.decorator) not in _BINDING:
                yield node.with_changes(decorators=bare(node.decorators, at))


def _decorating(expression: cst.BaseExpression) -> str | None:
    if isinstance(expression, cst.Call):
        return _called(expression)
    if isinstance(expression, cst.Attribute):
        return expression.attr.value
    return expression.value if isinstance(expression, cst.Name) else None


def removed_await(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``await x`` becomes ``x``."""
    if isinstance(node, cst.Await):
        yield with_parentheses_of(node, node.expression)
