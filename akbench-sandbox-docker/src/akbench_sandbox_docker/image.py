"""AK-Bench's own image, made of this machine's files: its Python without packages, and the tools agents expect.

No registry and no network is needed. What is in the image gives it its tag. Listing that takes seconds, so the image
also carries a stamp of what it was made from, by which it is found again until the machine's programs change.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from akbench.sandbox import layout
from akbench.spec import HostError

__all__ = ["Image", "libraries_of", "own_image", "stamp"]

_TOOLS = tuple(Path(__file__).with_name("tools.txt").read_text(encoding="ascii").split())
_TOP_LEVEL = ("/bin", "/sbin", "/lib", "/lib64")
"""Links on systems that have all in /usr: scripts and binaries refer to them."""
_PLACES = "/usr/bin:/bin:/usr/sbin:/sbin"
_LIBRARIES = (
    "libdl.so.2",
    "libgcc_s.so.1",
    "libgomp.so.1",
    "libnss_dns.so.2",
    "libnss_files.so.2",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
    "libz.so.1",
)
"""What wheels of prepared environments take from the system."""
_TREES = ("/usr/share/git-core/templates", "/usr/share/zoneinfo", "/usr/lib/locale/C.utf8", "/lib/terminfo")
_FILES = ("/etc/protocols", "/etc/services")
_USUAL_LIBRARIES = ("/lib", "/usr/lib")
_LEFT_OUT = frozenset(
    {"site-packages", "dist-packages", "test", "tests", "idlelib", "turtledemo", "lib2to3", "tkinter", "right", "posix"}
)
"""Folders: packages and tests of Pythons, what needs a display, and other spellings of time zones."""
_LEFT_OUT_FILES = ("_tkinter.", "git-remote-", "git-http-", "git-imap-send", "git-daemon", "git-shell", "scalar")
"""The beginnings of names of files that need a display or a network."""
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file (of the host, or with this content), a link, or (with neither) a folder."""

    source: Path | None = None
    content: bytes | None = None
    link: str | None = None
    mode: int = 0o755
    mtime: int = 0

    def data(self) -> bytes:
        """A file's content."""
        return self.source.read_bytes() if self.source is not None else self.content or b""

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.source is not None or self.content is not None


@dataclass(slots=True)
class Image:
    """What the image holds, by path."""

    entries: dict[str, _Entry] = field(default_factory=dict)
    _folders: dict[Path, Path] = field(default_factory=dict)
    """Folders taken in, and where each really lies."""

    def digest(self) -> str:
        """SHA-256 over all of it: names, kinds, modes, times and contents."""
        whole = hashlib.sha256()
        for path, entry in sorted(self.entries.items()):
            content = hashlib.sha256(entry.data()).hexdigest() if entry.is_file else ""
            whole.update(f"{path}\0{entry.link}\0{entry.mode:o}\0{entry.mtime}\0{content}\n".encode())
        return whole.hexdigest()

    def write(self, target: IO[bytes]) -> None:
        """Write it as a tar archive; everything belongs to root."""
        with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, entry in sorted(self.entries.items()):
                _write(archive, path, entry)

    def place(self, path: Path | str) -> Path:
        """Take `path` of the host in, with every link on the way to it; returns where it really lies."""
        path = Path(path)
        if path == path.parent:
            return path
        folder = self._folders.get(path.parent) or self.place(path.parent)
        here = folder / path.name
        found = here.lstat()
        if stat.S_ISLNK(found.st_mode):
            link = str(here.readlink())
            self.entries[str(here)] = _Entry(link=link, mode=0o777)
            return self.place(os.path.normpath(folder / link))
        if stat.S_ISDIR(found.st_mode):
            self.entries[str(here)] = _Entry()
            self._folders[path] = here
        elif stat.S_ISREG(found.st_mode):
            mode = 0o755 if found.st_mode & 0o111 else 0o644  # no set-uid program comes along
            self.entries[str(here)] = _Entry(source=here, mode=mode, mtime=int(found.st_mtime))
        return here

    def place_tree(self, root: Path | str) -> None:
        """Take in everything below `root`, if it is there, but what is of no use inside."""
        if not Path(root).is_dir():
            return
        top = self.place(root)
        for folder, folders, files in top.walk():
            folders[:] = [name for name in folders if name not in _LEFT_OUT and not name.startswith("config-")]
            for name in (*folders, *files):
                if not name.endswith(".a") and not name.startswith(_LEFT_OUT_FILES):
                    self.place(folder / name)

    def text(self, path: str, text: str) -> None:
        """A file of our own."""
        self.folder(str(Path(path).parent))
        self.entries[path] = _Entry(content=text.encode(), mode=0o644)

    def folder(self, path: str) -> None:
        """A folder of our own."""
        for folder in (Path(path), *Path(path).parents):
            self.entries.setdefault(str(folder), _Entry())


def _write(archive: tarfile.TarFile, path: str, entry: _Entry) -> None:
    if path == "/":
        return
    item = tarfile.TarInfo(path.lstrip("/"))
    item.mode, item.mtime = entry.mode, entry.mtime
    if entry.link is not None:
        item.type, item.linkname = tarfile.SYMTYPE, entry.link
        archive.addfile(item)
    elif entry.is_file:
        data = entry.data()
        item.size = len(data)
        archive.addfile(item, io.BytesIO(data))
    else:
        item.type = tarfile.DIRTYPE
        archive.addfile(item)


def own_image(uid: int) -> Image:
    """The image for processes of the user `uid`. Raises `HostError` if this machine has not what it is made of."""
    image = Image()
    for link in _TOP_LEVEL:
        if Path(link).is_symlink():
            image.place(link)
    for tool in _tools():
        image.place(tool)
    _place_git(image)
    _place_perl(image)
    _place_python(image)
    _place_libraries(image)
    for tree in _TREES:
        image.place_tree(tree)
    for path in _FILES:
        if Path(path).exists():
            image.place(path)
    for path in ("/opt", "/run", *(layout.inside(name) for name in ("workspace", "home"))):
        image.folder(path)
    image.entries[layout.TMP] = _Entry(mode=0o1777)  # what is mounted there takes this over, whatever is asked for
    image.folder("/var")
    image.entries["/var/tmp"] = _Entry(link="../tmp", mode=0o777)  # noqa: S108 (the sandbox's own)
    for name, text in layout.etc_files(uid).items():
        image.text(f"/etc/{name}", text)
    return image


def stamp(uid: int) -> str:
    """A digest of names, sizes and times of what `own_image` begins with; quickly had."""
    release = Path(sys.base_prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}")
    looked_at = [Path(__file__), Path(layout.interpreter()), release, release / "lib-dynload", Path("/etc/ld.so.cache")]
    whole = hashlib.sha256(f"{uid}\0{sys.version}\0{sys.base_prefix}\n".encode())
    for path in (*looked_at, *map(Path, _tools())):
        found = path.stat() if path.exists() else None
        whole.update(f"{path}\0{found and (found.st_size, found.st_mtime_ns)}\n".encode())
    return whole.hexdigest()


def _tools() -> list[str]:
    for name in ("sh", "env", "git"):
        if shutil.which(name, path=_PLACES) is None:
            raise HostError(
                f"{name} is not in {_PLACES}: the docker sandbox's own image is made of this machine's tools"
            )
    return [found for name in _TOOLS if (found := shutil.which(name, path=_PLACES))]


def _place_git(image: Image) -> None:
    """Git's helpers; what has the size of git itself is a copy of it, which git never starts."""
    helpers = Path("/usr/lib/git-core")
    git = Path(shutil.which("git", path=_PLACES) or "/usr/bin/git").stat().st_size
    for path in sorted(helpers.glob("*")) if helpers.is_dir() else ():
        if path.is_file() and path.stat().st_size != git and not path.name.startswith(_LEFT_OUT_FILES):
            image.place(path)


def _place_perl(image: Image) -> None:
    for path in Path("/usr/lib").glob("*/perl-base"):
        image.place_tree(path)


def _place_python(image: Image) -> None:
    """This harness's Python at its own path, since prepared environments refer to it there; without its packages."""
    release = f"python{sys.version_info.major}.{sys.version_info.minor}"
    prefix = Path(sys.base_prefix)
    for name in (release, "python3", "python"):
        if (prefix / "bin" / name).exists():
            image.place(prefix / "bin" / name)
    image.place(layout.interpreter())
    image.place_tree(prefix / "lib" / release)
    packages = image.place(prefix / "lib" / release) / "site-packages"
    image.entries.setdefault(str(packages), _Entry())
    for path in (prefix / "lib").glob("libpython*.so*"):
        image.place(path)


def _place_libraries(image: Image) -> None:
    programs = [path for path, entry in image.entries.items() if entry.source is not None and _is_elf(entry.source)]
    found = sorted(set(libraries_of(programs)))
    for library in found:
        image.place(library)
    system = {Path(path).parent for path in found if Path(path).name.startswith("libc.so")}
    for path in (folder / name for folder in system for name in _LIBRARIES):
        if path.exists():
            image.place(path)
    if any(not path.startswith((*_USUAL_LIBRARIES, sys.base_prefix)) for path in found):
        image.place("/etc/ld.so.cache")  # else the loader would not look there


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def libraries_of(programs: Iterable[str]) -> list[str]:
    """The loader and the libraries that these dynamic programs and modules need."""
    try:
        # Exit code 1: one of them is static, and has no libraries.
        done = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise HostError("ldd is not on PATH: the docker sandbox's own image cannot be made; name an image") from None
    return _LIBRARY.findall(done.stdout)
