"""Runs a check script in a process of its own and reports each of its tests; started by `PythonCheck`.

The script comes through standard input and lies nowhere; this process cannot be looked into by others of its user
(`PR_SET_DUMPABLE`) before the product's code runs for the first time. Whether that holds is tried, not assumed.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from akbench_evaluators.concealed_input import read_concealed_settings
from akbench_evaluators.hiding import hide_this_process
from akbench_evaluators.product import Product, ProductError
from akbench_evaluators.signed_report import ReportWriter

__all__ = ["CheckReport", "main"]

_LONGEST_MESSAGE = 2_000
_ROLES = ("target", "regression")
_PEEK = """
import os, sys
parent = f"/proc/{os.getppid()}"
seen = []
for name in ("mem", "environ", "maps", "fd/0"):
    try:
        with open(f"{parent}/{name}", "rb") as file:
            file.read(1)
        seen.append(name)
    except OSError as error:
        if name == "mem" and error.errno == 5:
            seen.append(name)
print(" ".join(seen))
"""


class CheckReport:
    """What a check is given to report its tests with."""

    def __init__(self, writer: ReportWriter) -> None:
        self._writer = writer
        self._names: set[str] = set()

    @contextmanager
    def test(self, name: str, role: str = "target") -> Iterator[None]:
        """One test: passed unless its block raises. `role` is ``target`` or ``regression``.

        An `AssertionError` and what the product does wrong fail the test; any other exception is an error in it.
        Neither ends the check.
        """
        if role not in _ROLES:
            raise ValueError(f"the role of test {name!r} is {role!r}; use one of {', '.join(_ROLES)}")
        if name in self._names:
            raise ValueError(f"there are two tests {name!r}; give one of them another name")
        self._names.add(name)
        begun, status, message = time.monotonic(), "passed", None
        try:
            yield
        except (AssertionError, ProductError) as error:
            status, message = "failed", _said(error)
        except Exception as error:  # noqa: BLE001 - the check goes on with its other tests
            status, message = "error", _said(error)
        seconds = time.monotonic() - begun
        self._writer.write("test", name=name, role=role, status=status, seconds=seconds, message=message)

    def note(self, **values: Any) -> None:
        """Keep values (JSON) with the judgement; they decide nothing."""
        self._writer.write("note", values=values)


def main() -> None:
    """Run the check that standard input describes; never returns."""
    settings = read_concealed_settings()
    writer = ReportWriter(settings["report_fd"])
    server = (pkgutil.get_data("akbench_evaluators", "product_server.py") or b"").decode()
    hide_this_process()
    writer.write("started", seen=_seen_by_others(settings))
    product = Product(
        workspace=settings["workspace"], python=settings["python"], environ=settings["environ"], server=server
    )
    writer.write("ended", problem=_run(settings, product, CheckReport(writer)))
    product.restart()
    os._exit(0)


def _seen_by_others(settings: dict[str, Any]) -> list[str]:
    """What of this process a process like the product's can open; nothing where the kernel keeps them apart."""
    argv = [settings["python"], "-I", "-c", _PEEK]
    done = subprocess.run(argv, env=settings["environ"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def _run(settings: dict[str, Any], product: Product, report: CheckReport) -> str | None:
    """Run the check's function; what went wrong outside its tests, if anything."""
    names: dict[str, Any] = {"__name__": "check", "ProductError": ProductError}
    try:
        exec(compile(settings["source"], settings["name"], "exec"), names)  # noqa: S102 - it is the task's own script
        check: Callable[[Product, CheckReport], object] = names["check"]
        check(product, report)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken check is told, not followed
        return _said(error)
    return None


def _said(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1:] or None
    where = f" (line {last[0].lineno} of {last[0].filename})" if last else ""
    return f"{type(error).__name__}: {error}{where}"[:_LONGEST_MESSAGE]
