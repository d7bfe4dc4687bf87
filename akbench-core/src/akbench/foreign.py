"""Code of others: found and run so that nothing it does (raise, exit, print) reaches beyond its own error."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import Any, NoReturn, TextIO, cast

__all__ = ["Identity", "cause_of", "distribution_of", "foreign_code", "installed_entry_points", "loading"]

_LONGEST = 300
_PATIENCE = 5.0
"""Seconds after which it is said which extension is waited for."""

type Identity = tuple[str, str]
"""Name and version of a distribution."""


@contextmanager
def foreign_code(owner: str) -> Iterator[None]:
    """Run an extension's code; `owner` begins the message and names it.

    What it prints goes to standard error: standard output is the command's own. Errors of AK-Bench and a Ctrl-C pass;
    however else the code ends, also by leaving the process, becomes an `ExtensionError`. Only in the main thread is
    output kept apart: there is one standard output for all threads.
    """
    from akbench.spec.errors import AkbenchError, ExtensionError

    try:
        is_main = threading.current_thread() is threading.main_thread()
        with _output_apart() if is_main else nullcontext():
            yield
    except (AkbenchError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ExtensionError(f"{owner}: {cause_of(error)}") from error


@contextmanager
def _output_apart() -> Iterator[None]:
    """Everything that is printed goes to standard error, and neither of the two streams can be closed."""
    apart = cast("TextIO", _Lasting(sys.stderr))
    with redirect_stdout(apart), redirect_stderr(apart):
        yield


class _Lasting:
    """A stream that stays open."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """The stream belongs to the command."""


@contextmanager
def loading(extension: str, distribution: str) -> Iterator[None]:
    """While an extension is loaded: whatever ends the process or takes its time is told with the extension's name.

    Leaving the process at once raises `SystemExit`, a Ctrl-C says what it interrupted, and after some seconds a line
    on standard error says what is waited for.
    """
    what = f"extension {extension!r} of {distribution}"
    way_out = f"AKBENCH_DISABLE={extension} leaves it out"
    late = threading.Timer(_PATIENCE, _say, [f"{what} is still being loaded; {way_out}", sys.stderr])
    late.daemon = True
    late.start()
    leave, owner = os._exit, os.getpid()

    def stay(status: int) -> NoReturn:
        if os.getpid() != owner:  # a process that the extension forked
            leave(status)
        raise SystemExit(status)

    os._exit = stay
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"while {what} was loaded; {way_out}") from None
    finally:
        os._exit = leave
        late.cancel()


def _say(text: str, stream: TextIO) -> None:
    print(f"waiting: {text}", file=stream, flush=True)


def cause_of(error: BaseException) -> str:
    """The error in one line of bounded length."""
    from akbench.spec.errors import AkbenchError

    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error of others may fail at telling what it is
        text = ""
    if isinstance(error, AkbenchError):
        return "; ".join(" ".join(line.split()) for line in str(error).splitlines() if line.strip())
    name = type(error).__name__
    return f"{name}: {text}"[:_LONGEST] if text else name


def installed_entry_points(group: str) -> tuple[list[EntryPoint], dict[Identity, str]]:
    """All entry points of `group`, and the distributions whose metadata cannot be read, with the cause."""
    try:
        return list(entry_points(group=group)), {}
    except Exception:  # noqa: BLE001 - one unreadable file hides all: look into each distribution alone
        return _one_by_one(group)


def _one_by_one(group: str) -> tuple[list[EntryPoint], dict[Identity, str]]:
    found: list[EntryPoint] = []
    unreadable: dict[Identity, str] = {}
    seen: set[str] = set()
    for distribution in distributions():
        name = re.sub(r"[-_.]+", "-", _identity(distribution)[0]).lower()
        if name in seen and name != "unknown":
            continue  # the path holds it twice, and Python imports the first
        seen.add(name)
        try:
            found += [entry for entry in distribution.entry_points if entry.group == group]
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others must be found
            unreadable.setdefault(_identity(distribution), cause_of(error))
    return found, unreadable


def distribution_of(entry: EntryPoint) -> Identity:
    """Name and version of the distribution that an entry point belongs to, as far as its metadata tells."""
    return ("unknown", "unknown") if entry.dist is None else _identity(entry.dist)


def _identity(distribution: Distribution) -> Identity:
    """From the metadata or, where they are damaged, from the name of their folder: ``name-version.dist-info``."""
    folder = str(getattr(getattr(distribution, "_path", None), "stem", ""))
    name, _, version = folder.partition("-")
    try:
        metadata = distribution.metadata  # parsed anew each time it is asked for
        return metadata["Name"] or name or "unknown", metadata["Version"] or version or "unknown"
    except Exception:  # noqa: BLE001 - damaged metadata still belongs to an extension that can be named
        return name or "unknown", version or "unknown"
