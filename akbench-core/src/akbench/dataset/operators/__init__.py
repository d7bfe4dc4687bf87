"""Mutation operators: what each is called and does. Their rules stand beside this and need libcst; this does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from akbench.spec import InputError

__all__ = ["OPERATORS", "Operator", "operator_of"]


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of controlled change. `version` rises whenever the same address would mean another change."""

    id: str
    version: int
    summary: str
    example: str


_LIST = (
    Operator("arithmetic-operator", 1, "one arithmetic or bit operator for its counterpart", "`a + b` → `a - b`"),
    Operator(
        "augmented-assignment", 1, "another operator in it, or a plain assignment", "`n += 1` → `n -= 1`, `n = 1`"
    ),
    Operator("boolean-literal", 1, "a truth value for the other", "`return True` → `return False`"),
    Operator("boolean-operator", 1, "`and` for `or` and the reverse", "`a and b` → `a or b`"),
    Operator("bound-shift", 1, "a bound of a slice or range one up or down", "`xs[:n]` → `xs[:n + 1]`, `xs[:n - 1]`"),
    Operator("caught-exception", 1, "another exception caught, or one less", "`except KeyError` → `except IndexError`"),
    Operator("comparison-boundary", 1, "a comparison that takes or leaves its bound", "`a < b` → `a <= b`"),
    Operator("comparison-negate", 1, "an equality, identity or membership denied", "`a is None` → `a is not None`"),
    Operator("comparison-reverse", 1, "an order the other way round", "`a < b` → `a > b`"),
    Operator("condition-negate", 1, "a condition denied", "`if ready:` → `if not ready:`"),
    Operator("dropped-branch", 1, "an `elif` or `else` branch gone", "`if a: … else: …` → `if a: …`"),
    Operator("dropped-call", 1, "a conversion or copy gone", "`name.strip()` → `name`, `list(xs)` → `xs`"),
    Operator("dropped-decorator", 1, "a decorator gone", "`@lru_cache` → nothing"),
    Operator("dropped-default", 1, "the fallback of a look-up gone", "`d.get(k, 0)` → `d.get(k)`"),
    Operator("dropped-filter", 1, "a condition of a comprehension gone", "`[x for x in xs if x]` → `[x for x in xs]`"),
    Operator("dropped-guard", 1, "an early exit gone", "`if not xs: return 0` → nothing"),
    Operator(
        "dropped-handler", 1, "one of several handlers, or a `finally` gone", "`except E: … finally: …` → `except E: …`"
    ),
    Operator("dropped-keyword", 1, "a keyword argument gone", "`f(x, key=k)` → `f(x)`"),
    Operator("dropped-statement", 1, "a statement that acts on something gone", "`self.size -= 1` → nothing"),
    Operator("index-end", 1, "the other end of a sequence", "`xs[0]` → `xs[-1]`"),
    Operator("integer-literal", 1, "an integer one up or down", "`n * 2` → `n * 3`, `n * 1`"),
    Operator("loop-control", 1, "`break` for `continue` and the reverse", "`break` → `continue`"),
    Operator("negation-drop", 1, "a `not` gone", "`not done` → `done`"),
    Operator("raised-exception", 1, "another exception raised", "`raise KeyError(k)` → `raise IndexError(k)`"),
    Operator("removed-await", 1, "an `await` gone", "`await send()` → `send()`"),
    Operator("sign-drop", 1, "a minus sign gone", "`-x` → `x`"),
    Operator("swapped-arguments", 1, "two neighbouring arguments exchanged", "`f(a, b)` → `f(b, a)`"),
    Operator("swapped-callee", 1, "a function for its counterpart", "`min(xs)` → `max(xs)`"),
    Operator("swapped-operands", 1, "two operands exchanged whose order matters", "`a - b` → `b - a`"),
    Operator("wrong-default", 1, "another default of a parameter", "`def f(strict=True)` → `def f(strict=False)`"),
)

OPERATORS: Mapping[str, Operator] = {each.id: each for each in _LIST}
"""Every operator by its id."""


def operator_of(operator_id: str, version: int) -> Operator:
    """The operator of that id and version. Raises `InputError` naming what there is instead."""
    operator = OPERATORS.get(operator_id)
    if operator is None:
        close = get_close_matches(operator_id, OPERATORS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(OPERATORS)}"
        raise InputError(f"there is no mutation operator {operator_id!r}; {hint}")
    if operator.version != version:
        raise InputError(
            f"version {version} of operator {operator_id!r} is asked for, but this AK-Bench has version "
            f"{operator.version}, whose occurrences may mean other changes"
        )
    return operator
