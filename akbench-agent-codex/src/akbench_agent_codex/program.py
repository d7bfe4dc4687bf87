"""Finding the native Codex program and asking it for its version and its sandbox."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from akbench.spec import HostError, JsonValue, Problem

__all__ = ["BINARY_VARIABLE", "INSTALL", "Program", "find_program", "sandbox_problem", "version"]

BINARY_VARIABLE = "AKBENCH_CODEX_BINARY"
INSTALL = f"npm install --global @openai/codex  (or set {BINARY_VARIABLE} to the codex program)"

PLATFORMS = {
    ("linux", "x86_64"): ("codex-linux-x64", "x86_64-unknown-linux-musl"),
    ("linux", "aarch64"): ("codex-linux-arm64", "aarch64-unknown-linux-musl"),
    ("darwin", "x86_64"): ("codex-darwin-x64", "x86_64-apple-darwin"),
    ("darwin", "arm64"): ("codex-darwin-arm64", "aarch64-apple-darwin"),
}
"""(system, machine) -> (npm package, target) as npm's launcher of Codex 0.171.0 knows them; run on the first only."""

NATIVE_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
PROBE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The native program: `root` is what a sandbox must show, `path` the program's place in it ("" for root itself)."""

    root: Path
    path: str

    @property
    def executable(self) -> Path:
        """The program on this host."""
        return self.root / self.path

    def at(self, root: str) -> str:
        """The program's path where `root` appears as the given path."""
        return f"{root}/{self.path}" if self.path else root

    @property
    def kind(self) -> str:
        """How it is installed, for the record."""
        return "package" if self.path else "single file"


def find_program(config: Mapping[str, JsonValue], environ: Mapping[str, str]) -> Program:
    """The program that `config` or `environ` names, or that PATH offers. Raises `HostError` with the mend."""
    named = config.get("binary") or environ.get(BINARY_VARIABLE)
    wanted = str(named) if named else "codex"
    found = shutil.which(wanted, path=environ.get("PATH", ""))
    if found is None:
        where = "" if named else " on PATH"
        raise HostError(f"no executable {wanted!r}{where}; mend: {INSTALL}")
    path = Path(found).resolve()
    return _packaged(path) if _is_native(path) else _packaged(_behind_launcher(path))


def version(program: Program) -> str:
    """What ``codex --version`` says. Raises `HostError` if it says nothing of the kind."""
    answer = _ask(program, "--version")
    found = re.match(r"codex\S* (\d+\.\d+\.\d+\S*)", answer.stdout)
    if answer.returncode != 0 or found is None:
        message = f"{program.executable} --version does not answer as Codex does"
        raise HostError(f"{message}: {_tail(answer)}; mend: {INSTALL}")
    return found[1]


def sandbox_problem(program: Program) -> Problem | None:
    """Why Codex's own sandbox cannot start a command here; a run would end normally and hide it."""
    answer = _ask(program, "sandbox", "-P", ":workspace", "--", "/bin/true")
    if answer.returncode == 0:
        return None
    return Problem(
        message=f"Codex's own sandbox cannot start commands here: {_tail(answer)}",
        mend="apt-get install bubblewrap and use the sandbox bubblewrap (or allow user namespaces on this host)",
    )


def _ask(program: Program, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program on the host with rooms of its own; CODEX_HOME must not lie under TMPDIR."""
    with tempfile.TemporaryDirectory(prefix="akbench-codex-") as scratch:
        names = {"HOME": "home", "CODEX_HOME": "state", "TMPDIR": "tmp"}
        rooms = {variable: Path(scratch, name) for variable, name in names.items()}
        work = Path(scratch, "work")
        for room in (*rooms.values(), work):
            room.mkdir()
        try:
            return subprocess.run(
                [str(program.executable), *arguments],
                cwd=work,
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", **{name: str(room) for name, room in rooms.items()}},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HostError(f"cannot run {program.executable}: {error}; mend: {INSTALL}") from error


def _tail(answer: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (answer.stderr + answer.stdout).splitlines() if line.strip()]
    return f"exit code {answer.returncode}" + (f", {lines[-1][:300]}" if lines else "")


def _is_native(path: Path) -> bool:
    return _start(path).startswith(NATIVE_MAGIC)


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise HostError(f"cannot read {path}: {error.strerror}; mend: {INSTALL}") from error


def _packaged(path: Path) -> Program:
    """The folder that holds ``bin/`` and ``codex-resources/`` belongs to the program; a lone file stands for itself."""
    root = path.parent.parent
    if path.parent.name == "bin" and (root / "codex-resources").is_dir():
        return Program(root=root, path=f"bin/{path.name}")
    return Program(root=path, path="")


def _behind_launcher(launcher: Path) -> Path:
    """The native program that npm's launcher script would start: Node's search through the folders above it."""
    if b"node" not in _start(launcher).split(b"\n")[0]:
        raise HostError(f"{launcher} is neither the codex program nor npm's launcher of it; mend: {INSTALL}")
    package, target = _platform()
    vendored = Path("vendor", target, "bin", "codex")
    candidates = [
        *(folder / "node_modules" / "@openai" / package / vendored for folder in launcher.parents),
        launcher.parent.parent / vendored,
    ]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.resolve()
    raise HostError(f"npm's launcher {launcher} lacks its platform package @openai/{package}; mend: {INSTALL}")


def _platform() -> tuple[str, str]:
    here = (sys.platform, platform.machine())
    if here not in PLATFORMS:
        raise HostError(f"no Codex package is known for {here[0]} on {here[1]}; mend: set {BINARY_VARIABLE}")
    return PLATFORMS[here]
