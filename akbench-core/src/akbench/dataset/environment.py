"""Prepared environments: a task's pinned requirements, installed once, the same for agent and evaluation."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from akbench.dataset.interpreter import Interpreter, find_interpreter
from akbench.spec import HostError, InputError

__all__ = ["PreparedEnvironment", "environment_key", "prepare_environment"]

_PINNED = re.compile(r"==[^=*,]+")
_RECORD = "environment.json"
_LAST_LINES = 15
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEnvironment:
    """What a task runs in, never changed again: a virtual environment, or an image.

    - `key`: what it was made of: interpreter, platform, pinned requirements; or the image.
    - `python`: its interpreter, None for an image without one.
    - `packages`: what that has installed, canonical name -> version.
    - `root`: the virtual environment's folder; `base_prefix`: the installation its interpreter belongs to, which a
      sandbox must show at the same path. Both None for an image.
    - `image`: its id; `variables`: what it sets; `runner`: the words that start a Python in it that is none of its own.
    """

    key: str
    python: Path | None
    packages: Mapping[str, str]
    root: Path | None = None
    base_prefix: Path | None = None
    image: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    runner: tuple[str, ...] = ()

    def environ(self, *, home: str, tmp: str, import_path: Iterable[str]) -> dict[str, str]:
        """The variables of a process in it; `import_path` is where Python finds the task's own modules."""
        path = self.variables.get("PATH", _PATH) if self.root is None else f"{self.root}/bin:{_PATH}"
        imports = [*import_path, *filter(None, [self.variables.get("PYTHONPATH")])]
        return {
            "LANG": "C.UTF-8",
            **self.variables,
            "PATH": path,
            "HOME": home,
            "TMPDIR": tmp,
            "PYTHONPATH": ":".join(imports),
        }


def prepare_environment(
    *, python: str, requirements: Iterable[str], cache: Path, forbidden: str | None = None
) -> PreparedEnvironment:
    """The environment of Python `python` (``3.12``) with exactly `requirements`, built once under ``cache``.

    `requirements` are pinned (``name==version``) and name the whole closure: nothing else is installed, and only
    wheels are, so that no package's code runs. `forbidden` is the library that tasks change, which would be the
    solution. pip's own configuration decides where packages come from.

    Raises `InputError` for requirements that are not pinned, not complete or forbidden, `HostError` when there is no
    such Python or a package cannot be had.
    """
    pins = _pins(requirements, forbidden)
    interpreter = find_interpreter(python)
    key = _key(interpreter, pins)
    root = cache.resolve() / "environments" / key
    if not _usable(root, interpreter):
        with _lock(root.with_suffix(".lock")):
            if not _usable(root, interpreter):
                _build(interpreter, pins, root)
    return _recorded(root, key)


def environment_key(*, python: str, requirements: Iterable[str]) -> str:
    """The key that `prepare_environment` would give, without building anything. Raises as that does."""
    return _key(find_interpreter(python), _pins(requirements, None))


def _pins(requirements: Iterable[str], forbidden: str | None) -> tuple[str, ...]:
    pins: dict[str, str] = {}
    for text in requirements:
        name, pin = _pin(text)
        if forbidden is not None and name == canonicalize_name(forbidden):
            raise InputError(f"requirement {text!r} is the library under test, which would hand out the solution")
        if pins.setdefault(name, pin) != pin:
            raise InputError(f"requirement {text!r} contradicts {pins[name]!r}")
    return tuple(sorted(pins.values()))


def _pin(text: str) -> tuple[str, str]:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise InputError(f"requirement {text!r} cannot be read: {error}") from error
    pinned = _PINNED.fullmatch(str(requirement.specifier)) and not requirement.url and not requirement.marker
    if not pinned or requirement.extras:
        raise InputError(f"requirement {text!r} is not pinned; write name==version, for the whole closure")
    name = canonicalize_name(requirement.name)
    return name, f"{name}{requirement.specifier}"


def _key(interpreter: Interpreter, pins: tuple[str, ...]) -> str:
    parts = [interpreter.implementation, interpreter.version, interpreter.platform, *pins]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """One builder at a time; the system lets go of the lock when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _usable(root: Path, interpreter: Interpreter) -> bool:
    """Whether it was built to the end, for an interpreter that is still where it was."""
    try:
        record = json.loads((root / _RECORD).read_text())
    except FileNotFoundError:
        return False
    return bool(record["base_prefix"] == str(interpreter.base_prefix) and (root / "bin" / "python").exists())


def _recorded(root: Path, key: str) -> PreparedEnvironment:
    record = json.loads((root / _RECORD).read_text())
    return PreparedEnvironment(
        key=key,
        python=root / "bin" / "python",
        root=root,
        base_prefix=Path(record["base_prefix"]),
        packages=record["packages"],
    )


def _build(interpreter: Interpreter, pins: tuple[str, ...], root: Path) -> None:
    """Build at the final place, since a virtual environment knows its own path; the record comes last and at once.

    A folder without its record is what a killed build left: nobody uses it, and the next build starts afresh.
    """
    builder = _builder(interpreter, root.parent) if pins else None
    _remove(root)
    try:
        _run([interpreter.executable, "-I", "-m", "venv", "--without-pip", root], "the virtual environment")
        if builder is not None:
            _install(builder, pins, root)
            _check_closure(builder, root)
        # Exit code 1 means that some file is no valid Python: test data of a package, and no loss.
        _run([root / "bin" / "python", "-I", "-m", "compileall", "-q", root / "lib"], "byte code", good=(0, 1))
        _make_read_only(root)
        root.chmod(0o755)
        _write_record(interpreter, root)
        root.chmod(0o555)
    except BaseException:
        _remove(root)
        raise


def _builder(interpreter: Interpreter, folder: Path) -> Path:
    """The interpreter of an environment that has pip, used to fill others; made once for each base interpreter."""
    key = _key(interpreter, ())
    root = folder / f"builder-{key[:16]}"
    with _lock(root.with_suffix(".lock")):
        if not _usable(root, interpreter):
            _remove(root)
            try:
                _run([interpreter.executable, "-I", "-m", "venv", root], "an environment with pip")
                _write_record(interpreter, root)
            except BaseException:
                _remove(root)
                raise
    return root / "bin" / "python"


def _install(builder: Path, pins: tuple[str, ...], root: Path) -> None:
    target = ("--python", str(root / "bin" / "python"))
    how = ("--no-deps", "--only-binary", ":all:", "--no-compile", "--no-input", "--disable-pip-version-check")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(pins))
        listing.flush()
        _run(
            [builder, "-m", "pip", *target, "install", *how, "-r", listing.name],
            "the requirements; is each on the package index, as a wheel for this Python? pip says",
        )


def _check_closure(builder: Path, root: Path) -> None:
    command = [str(builder), "-m", "pip", "--python", str(root / "bin" / "python"), "check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environ())
    if done.returncode:
        missing = "; ".join(line for line in done.stdout.splitlines() if line.strip())
        raise InputError(f"the requirements are not complete, pin these too: {missing or done.stderr.strip()}")


def _run(command: list[str | Path], what: str, *, good: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=_environ()
    )
    if done.returncode not in good:
        lines = "\n".join(done.stdout.strip().splitlines()[-_LAST_LINES:])
        raise HostError(f"cannot make {what}:\n{lines or f'exit code {done.returncode}'}")


def _environ() -> dict[str, str]:
    """The user's, with pip's configuration, but without what would point Python or pip at another environment."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for name in ("VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "__PYVENV_LAUNCHER__"):
        environ.pop(name, None)
    return {**environ, "PIP_USER": "0"}


def _make_read_only(root: Path) -> None:
    for folder, _, files in root.walk(top_down=False):
        for path in (*(folder / name for name in files), folder):
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def _write_record(interpreter: Interpreter, root: Path) -> None:
    site = root / "lib" / f"python{interpreter.release}" / "site-packages"
    packages = {canonicalize_name(found.name): found.version for found in distributions(path=[str(site)])}
    draft = root / f".{_RECORD}"
    record = {"base_prefix": str(interpreter.base_prefix), "packages": dict(sorted(packages.items()))}
    draft.write_text(json.dumps(record, indent=2))
    draft.chmod(0o444)
    draft.rename(root / _RECORD)


def _remove(root: Path) -> None:
    """Remove a folder, also one whose folders are read-only by now."""
    if root.exists():
        for folder, _, _ in root.walk():
            folder.chmod(0o700)
        shutil.rmtree(root)
