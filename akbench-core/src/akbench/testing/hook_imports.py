"""What a hook module brings into the process that imports it: discovery pays for it at every start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["HookImports", "hook_imports"]

_PROGRAM = """
import json, sys, time
import akbench.spec.hooks
before = set(sys.modules)
start = time.process_time()
sys.stdout = sys.stderr
__import__(sys.argv[1])
sys.stdout = sys.__stdout__
print(json.dumps([sorted(set(sys.modules) - before), time.process_time() - start]))
"""
_LONGEST_SECONDS = 60
_OF_THE_CONTRACT = ("akbench", "akbench.spec", "pluggy")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookImports:
    """What importing a hook module loads beyond `akbench.spec`, in a process of its own.

    - `foreign`: modules of other distributions; `of_core`: modules of AK-Bench beyond the contract; `adapters`: the
      adapters themselves, which should wait for their first use. All three are empty for a light module.
    - `seconds`: CPU time of the import. `error`: why it could not be imported.
    """

    foreign: tuple[str, ...] = ()
    of_core: tuple[str, ...] = ()
    adapters: tuple[str, ...] = ()
    seconds: float | None = None
    error: str | None = None

    @property
    def is_light(self) -> bool:
        """Whether it was imported and loads nothing that it should not."""
        return not (self.foreign or self.of_core or self.adapters or self.error)

    def faults(self) -> tuple[str, ...]:
        """What is wrong, in sentences."""
        named = (
            (
                "imports modules of other distributions at discovery time",
                self.foreign,
            ),
            ("imports more of AK-Bench than akbench.spec", self.of_core),
            ("imports its adapters at discovery time", self.adapters),
        )
        found = [f"{text}: {', '.join(modules)}" for text, modules in named if modules]
        return (*found, *([f"cannot be imported: {self.error}"] if self.error else []))


def hook_imports(module: str, targets: Iterable[str] = ()) -> HookImports:
    """Import `module` in a new process and say what it loads; `targets` are the import paths of its adapters.

    The process looks for modules where this one does.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, module],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
    except subprocess.TimeoutExpired:
        return HookImports(error=f"not done after {_LONGEST_SECONDS} seconds")
    try:
        loaded, seconds = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines()
        return HookImports(error=lines[-1] if lines else f"the process ended with {done.returncode}")
    return _sorted(module, loaded, float(seconds), {target.partition(":")[0] for target in targets})


def _sorted(module: str, loaded: list[str], seconds: float, adapters: set[str]) -> HookImports:
    own = {module.rpartition(".")[0] or module, *(name.partition(".")[0] for name in adapters)} - {"akbench"}
    others = [name for name in loaded if name not in adapters and not any(_belongs(name, each) for each in own)]
    return HookImports(
        foreign=tuple(dict.fromkeys(name.partition(".")[0] for name in others if _is_foreign(name))),
        of_core=tuple(name for name in others if name.startswith("akbench.") and not _within(name, _OF_THE_CONTRACT)),
        adapters=tuple(name for name in loaded if name in adapters),
        seconds=seconds,
    )


def _belongs(name: str, own: str) -> bool:
    """A part of the extension's own package, or of what encloses it."""
    return f"{name}.".startswith(f"{own}.") or f"{own}.".startswith(f"{name}.")


def _within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or (package != "akbench" and name.startswith(f"{package}.")) for package in packages)


def _is_foreign(name: str) -> bool:
    top = name.partition(".")[0]
    return top not in sys.stdlib_module_names and top != "akbench"
