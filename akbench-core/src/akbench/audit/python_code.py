"""What Python code reaches for, by its syntax: names behind aliases and built of pieces count, comments do not."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping

from akbench.audit.finding import Severity

__all__ = ["reaching_lines"]

_MACHINERY = re.compile(
    r"_?pytest(\.|$)|unittest\.(TestCase|TestResult|case|runner)(\.|$)|os\.(_exit|abort)$"
    r"|gc\.get_(objects|referrers|referents)$|sys\.(settrace|setprofile|meta_path|path_hooks|monitoring|addaudithook)(\.|$)"
    r"|threading\.(settrace|setprofile)\w*$"
)
_INSPECTION = re.compile(
    r"sys\.(modules|_getframe|_current_frames|argv)(\.|$)|atexit\.register$|ctypes(\.|$)|signal\.(alarm|setitimer|SIGALRM)$"
    r"|inspect\.(currentframe|stack|trace|getouterframes|getinnerframes)$|importlib\.(machinery|abc|_bootstrap\w*)(\.|$)"
)
_FRAMES = frozenset(("f_back", "f_builtins", "f_globals", "f_locals", "f_trace", "tb_frame", "gi_frame", "cr_frame"))
_TELLING_TEXT = re.compile(r"_pytest\b|\bPYTEST_\w+|/proc/(self|thread-self|\d+)/(fd|mem|maps)\b")
_TEXT = re.compile(r"\bpytest\b")
_SETTABLE = frozenset(("sys", "warnings", "logging"))
"""Modules of the standard library whose attributes are meant to be set."""
_EVALUATING = frozenset(("exec", "eval", "compile"))
_IMPORTING = frozenset(("__import__", "importlib.import_module", "importlib.__import__"))
_DEPTH = 50


def reaching_lines(text: str) -> dict[int, Severity] | None:
    """The numbers of the lines that reach for what runs tests, and how grave that is; None if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[int, Severity] = {}
    for node, severity in _reaching(tree):
        if found.get(node.lineno) is not Severity.WARNING:
            found[node.lineno] = severity
    return found


type _Placed = ast.expr | ast.stmt


def _reaching(tree: ast.Module) -> Iterator[tuple[_Placed, Severity]]:
    names = _imported(tree)
    told = _docstrings(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr | ast.stmt) or node in told:
            continue
        severity = max(_severities(node, names), default=None, key=lambda each: each is Severity.WARNING)
        if severity is not None:
            yield node, severity


def _severities(node: _Placed, names: Mapping[str, str]) -> Iterator[Severity]:
    for name in _names(node, names):
        if _MACHINERY.match(name):
            yield Severity.WARNING
        elif _INSPECTION.match(name):
            yield Severity.INFO
    text = _folded(node) if isinstance(node, ast.expr) else None
    if text is not None and (_TELLING_TEXT.search(text) or _TEXT.search(text)):
        yield Severity.WARNING if _TELLING_TEXT.search(text) else Severity.INFO
    if isinstance(node, ast.Attribute) and node.attr in _FRAMES:
        yield Severity.INFO
    if isinstance(node, ast.Call):
        yield from _of_call(node, names)
    owners = [target.value for target in _targets(node) if isinstance(target, ast.Attribute)]
    if any(_is_of_standard_library(owner, names) for owner in owners):
        yield Severity.WARNING


def _of_call(call: ast.Call, names: Mapping[str, str]) -> Iterator[Severity]:
    function = _dotted(call.func, names)
    first = call.args[0] if call.args else None
    made_up = first is not None and _folded(first) is None
    if function in _EVALUATING or (function in _IMPORTING and made_up):
        yield Severity.INFO
    if function == "setattr" and first is not None and _is_of_standard_library(first, names):
        yield Severity.WARNING


def _names(node: _Placed, names: Mapping[str, str]) -> Iterator[str]:
    """What the node names, in full."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Name | ast.Attribute | ast.Call):
        name = _dotted(node, names)
        if name is not None:
            yield name


def _imported(tree: ast.Module) -> dict[str, str]:
    """What the names stand for that are imported anywhere in the module."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({each.asname or each.name.partition(".")[0]: each.asname and each.name for each in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return {name: meant or name for name, meant in found.items()}


def _dotted(node: ast.expr, names: Mapping[str, str], depth: int = _DEPTH) -> str | None:
    """The name in full that an expression stands for, as far as its text tells."""
    if not depth:
        return None
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names, depth - 1)
        return owner and f"{owner}.{node.attr}"
    if isinstance(node, ast.Call) and node.args:
        function = _dotted(node.func, names, depth - 1)
        if function in _IMPORTING:
            return _folded(node.args[0])
        if function == "getattr" and len(node.args) > 1:
            owner, name = _dotted(node.args[0], names, depth - 1), _folded(node.args[1])
            return f"{owner}.{name}" if owner and name else None
    return None


def _folded(node: ast.expr, depth: int = _DEPTH) -> str | None:
    """The text that constants are put together to."""
    if not depth:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    pieces: list[ast.expr] | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        pieces = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        pieces = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        pieces = list(node.args[0].elts) if node.args and isinstance(node.args[0], ast.List | ast.Tuple) else None
    elif isinstance(node, ast.Subscript):
        text = _folded(node.value, depth - 1)
        return text[::-1] if text and isinstance(node.slice, ast.Slice) and ast.unparse(node.slice) == "::-1" else None
    texts = [_folded(piece, depth - 1) for piece in pieces or ()]
    return "".join(text for text in texts if text) if texts and None not in texts else None


def _targets(node: _Placed) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _is_of_standard_library(owner: ast.expr, names: Mapping[str, str]) -> bool:
    """Whether it is a module of the standard library, or something in one, whose attributes others rely on."""
    root = owner
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id not in names:
        return False
    module = (_dotted(owner, names) or "").partition(".")[0]
    return module in sys.stdlib_module_names and module not in _SETTABLE


def _docstrings(tree: ast.Module) -> set[ast.AST]:
    """Texts that stand alone: nothing is done with them."""
    alone = (node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    return {each for node in alone for each in (node, node.value)}
