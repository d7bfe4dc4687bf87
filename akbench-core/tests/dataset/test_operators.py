"""Each operator by a table: the body of a function, and what the operator makes of it, in order."""

from __future__ import annotations

import subprocess
import sys

import pytest

from akbench.dataset.mutation import apply_operator
from akbench.dataset.operators import OPERATORS, operator_of
from akbench.dataset.operators.sites import MODULE, RULES, Source
from akbench.spec import InputError

CASES = {
    "arithmetic-operator": [
        ("return a + b", ["return a - b"]),
        ("return a*b", ["return a+b"]),
        ("return a // b", ["return a / b"]),
        ("return flags | MASK", ["return flags & MASK"]),
        ("return 'x' + a + 'y'", []),
    ],
    "augmented-assignment": [
        ("n += 1", ["n -= 1", "n = 1"]),
        ("n //= 2  # half", ["n /= 2  # half", "n = 2  # half"]),
        ("s += 'x'", ["s = 'x'"]),
    ],
    "boolean-literal": [("return True", ["return False"]), ("f(strict=False)", ["f(strict=True)"])],
    "boolean-operator": [("return a and b or c", ["return a or b or c", "return a and b and c"])],
    "bound-shift": [
        ("return xs[:n]", ["return xs[:n + 1]", "return xs[:n - 1]"]),
        ("return xs[i + 1:]", ["return xs[i:]"]),
        ("return xs[1:]", []),
        ("return range(a or b)", ["return range((a or b) + 1)", "return range((a or b) - 1)"]),
    ],
    "caught-exception": [
        ("try: f()\nexcept KeyError: pass", ["try: f()\nexcept IndexError: pass"]),
        (
            "try: f()\nexcept (KeyError, OSError) as e: pass",
            ["try: f()\nexcept OSError as e: pass", "try: f()\nexcept KeyError as e: pass"],
        ),
        ("try: f()\nexcept MyError: pass", []),
    ],
    "comparison-boundary": [("return 0 <= n < m", ["return 0 < n < m", "return 0 <= n <= m"]), ("return a == b", [])],
    "comparison-negate": [
        ("return a==b", ["return a!=b"]),
        ("return a is not None", ["return a is None"]),
        ("return a not in b", ["return a in b"]),
    ],
    "comparison-reverse": [("return a>=b", ["return a<=b"])],
    "condition-negate": [
        ("if ready: f()", ["if not ready: f()"]),
        ("while(a or b): f()", ["while not (a or b): f()"]),
        ("return x if ok else y", ["return x if not ok else y"]),
        ("return [x for x in xs if x]", ["return [x for x in xs if not x]"]),
        ("if a < b: f()", []),
        ("if not a: f()", []),
    ],
    "dropped-branch": [
        (
            "if a:\n    f()\nelif b:\n    g()\nelse:\n    h()",
            ["if a:\n    f()\nelse:\n    h()", "if a:\n    f()\nelif b:\n    g()"],
        ),
        ("for x in xs:\n    f()\nelse:\n    g()", ["for x in xs:\n    f()"]),
    ],
    "dropped-call": [
        ("return name.strip().lower()", ["return name.strip()", "return name.lower()"]),
        ("return list(xs)", ["return xs"]),
        ("return list(x for x in xs)", []),
        ("return name.strip('x')", []),
    ],
    "dropped-decorator": [
        ("@cache\n@property\ndef g(): pass", ["@property\ndef g(): pass"]),
        ("@x.setter\ndef g(): pass", []),
    ],
    "dropped-default": [
        ("return d.get(k, 0)", ["return d.get(k)"]),
        ("return getattr(o, n, None)", ["return getattr(o, n)"]),
        ("return d.get(k)", []),
        ("return pop(k, 0)", []),
    ],
    "dropped-filter": [
        ("return {x for x in xs if x if y}", ["return {x for x in xs if y}", "return {x for x in xs if x}"]),
    ],
    "dropped-guard": [
        ("# why\nif not xs:\n    return 0\nreturn f(xs)", ["return f(xs)"]),
        ("if a:\n    f()\nreturn 1", []),
    ],
    "dropped-handler": [
        (
            "try: f()\nexcept A: pass\nexcept B: pass\nfinally: g()",
            [
                "try: f()\nexcept B: pass\nfinally: g()",
                "try: f()\nexcept A: pass\nfinally: g()",
                "try: f()\nexcept A: pass\nexcept B: pass",
            ],
        ),
        ("try: f()\nfinally: g()", []),
    ],
    "dropped-keyword": [("return f(x, key=k)", ["return f(x)"]), ("f(a=1, b=2)", ["f(b=2)", "f(a=1)"])],
    "dropped-statement": [
        ("self.size -= 1\nx = 1\ndel d[k]", ["x = 1\ndel d[k]", "self.size -= 1\nx = 1"]),
        ("await send()\nreturn 1", ["return 1"]),
        ("x = f()\nreturn x", []),
    ],
    "index-end": [("return xs[0]", ["return xs[-1]"]), ("return xs[-1]", ["return xs[0]"]), ("return xs[1]", [])],
    "integer-literal": [
        ("return n * 2", ["return n * 3", "return n * 1"]),
        ("return 0", ["return 1"]),
        ("x = 0x10", []),
    ],
    "loop-control": [
        ("for x in xs: break", ["for x in xs: continue"]),
        ("for x in xs: continue", ["for x in xs: break"]),
    ],
    "negation-drop": [("return not (a or b)", ["return (a or b)"]), ("return (not a)", ["return (a)"])],
    "raised-exception": [
        ("raise KeyError(k) from e", ["raise IndexError(k) from e"]),
        ("raise ValueError", ["raise TypeError"]),
        ("raise", []),
    ],
    "removed-await": [("x = await send()", ["x = send()"]), ("x = (await a) + 1", ["x = (a) + 1"])],
    "sign-drop": [("return -x", ["return x"]), ("return xs[-1]", ["return xs[1]"])],
    "swapped-arguments": [
        ("return f(a, b, c)", ["return f(b, a, c)", "return f(a, c, b)"]),
        ("return f(a, *b, k=c)", []),
    ],
    "swapped-callee": [
        ("return min(xs)", ["return max(xs)"]),
        ("return s.lstrip('x')", ["return s.rstrip('x')"]),
        ("return s.min", []),
    ],
    "swapped-operands": [("return a - b[0]", ["return b[0] - a"]), ("return a + b", []), ("return (a or b) / c", [])],
    "wrong-default": [
        ("def g(a, strict=True, n=0, *, m=2): pass", [
            "def g(a, strict=False, n=0, *, m=2): pass",
            "def g(a, strict=True, n=1, *, m=2): pass",
            "def g(a, strict=True, n=0, *, m=3): pass",
            "def g(a, strict=True, n=0, *, m=1): pass",
        ]),
    ],
}  # fmt: skip


def function(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"async def outer(*args):\n{lines}"


@pytest.mark.parametrize("operator", CASES)
def test_an_operator_makes_exactly_these_changes_in_this_order(operator: str):
    for body, expected in CASES[operator]:
        source = Source(function(body).encode(), file="m.py")
        made = [source.changed(site).decode() for site in source.sites(frozenset({operator}))]
        assert made == [function(each) for each in expected], body


def test_every_operator_has_a_rule_a_case_and_a_place_in_the_order():
    assert set(OPERATORS) == set(RULES) == set(CASES)
    assert list(OPERATORS) == sorted(OPERATORS)
    assert len(OPERATORS) >= 15


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfdef f(a):\r\n\treturn a + 1  \r\n# end",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\ndef f(a):\n    return (a\n  + 1)\n\x0c\n",
        b"def f(a):\r\n  if a:\n      return a + 1\r\n\n\n",
    ],
)
def test_every_byte_that_is_not_changed_stays(content: bytes):
    mutated = apply_operator(content, file="m.py", symbol="f", operator="arithmetic-operator", version=1, occurrence=1)
    assert mutated == content.replace(b"+ 1", b"- 1")


def test_an_address_counts_within_the_innermost_symbol():
    text = "x = 1 + 1\nclass A:\n    n = 2 + 2\n    def f(self):\n        def g(): return 3 + 3\n        return 4 + 4\n"
    sites = Source(text.encode(), file="m.py").sites(frozenset({"arithmetic-operator"}))
    assert [(site.symbol, site.occurrence, site.line) for site in sites] == [
        (MODULE, 1, 1), ("A", 1, 3), ("A.f.g", 1, 5), ("A.f", 1, 6),
    ]  # fmt: skip


def test_annotations_and_blocks_for_type_checkers_are_left_out():
    text = (
        "import typing\nif typing.TYPE_CHECKING:\n    x = 1 + 1\ndef f(a: int | None, b: 'x' = 1) -> A[0]:\n    pass\n"
    )
    assert {site.operator for site in Source(text.encode(), file="m.py").sites()} == {
        "wrong-default",
        "integer-literal",
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operator": "arithmetik-operator"}, "did you mean 'arithmetic-operator'"),
        ({"version": 2}, "version 2 of operator 'arithmetic-operator' is asked for, but this AK-Bench has version 1"),
        ({"occurrence": 2}, r"m\.py: arithmetic-operator has 1 places in 'f', so there is no occurrence 2"),
        ({"symbol": "g"}, "has no place in 'g'"),
        ({"content": b"def f(:\n"}, r"m\.py: not a Python source file"),
        (
            {"content": b"for x in y:\n  def f():\n    return 1\n  continue\n", "operator": "loop-control"},
            "no place in 'f'",
        ),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(changes, message):
    values = {"content": b"def f(a):\n    return a + 1\n", "file": "m.py", "symbol": "f"}
    address = {"operator": "arithmetic-operator", "version": 1, "occurrence": 1}
    values = {**values, **address, **changes}
    with pytest.raises(InputError, match=message):
        apply_operator(values.pop("content"), **values)


def test_an_operator_of_this_version_is_found():
    assert operator_of("loop-control", 1).summary


def test_reading_a_dataset_needs_no_syntax_tree_library():
    program = "import sys, akbench.dataset.assembly, akbench.cli.dataset; print('libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
