"""The tree of one commit of a git repository: fetched once, kept by the commit's id, every object checked by its own.

No git command works on files here: nothing is checked out, so no hook, filter or attribute of anyone can act, and
submodules and large-file pointers are what the commit says they are.
"""

from __future__ import annotations

import hashlib
import io
import os
import posixpath
import stat
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from dulwich.config import ConfigFile, parse_submodules
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, Commit, ObjectID, ShaFile
from dulwich.objects import Tree as Folder

from akbench.dataset.gather import Caps, CapsReached, Gathered, Gatherer, OddityKind, in_memory
from akbench.dataset.locations import SCHEMES, url_flaw
from akbench.dataset.objects import UNREADABLE, move_into_place
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.git import bare_repository, git
from akbench.spec import HostError, InputError

__all__ = ["Submodules", "read_commit"]

type Submodules = Literal["fetch", "leave_out"]

_GITLINK = 0o160000
_DEEPEST = 5
_FROM_OUTSIDE = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "SSH_AUTH_SOCK"),
)
"""What of the user's environment a fetch needs to get through; no GIT_CONFIG variable is among it."""
_SSH = "install an ssh client, such as the package openssh-client"
_MENDS = {
    "dubious ownership": "it belongs to another user, whose repositories git does not read: make it yours, or name a "
    "copy that is",
    "does not appear to be a git repository": "name the folder of a git repository",
    "ssh: not found": _SSH,
    "ssh: command not found": _SSH,
    "Host key verification failed": "connect to the host once by hand, so that ssh knows it",
    "Permission denied": "give this user a key for it that asks for no passphrase",
    "could not read Username": "it is not public or not there; give git access by ssh, or name a public address",
    "' not found": "it is not public or not there; look at the address",
    "certificate": "name the file of the certificates to trust in GIT_SSL_CAINFO",
}
"""What git says of a fetch that failed -> what to do; for anything else, and there is much of it, the network."""
_FETCH = (
    *("-c", "protocol.version=2", "-c", "fetch.unpackLimit=1", "-c", "credential.helper=", "-c", "core.askPass="),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60"),
    *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head"),
)


def read_commit(
    url: str, commit: str, cache: Path, *, submodules: Submodules | None = None, caps: Caps | None = None
) -> Gathered:
    """The files of `commit` (40 hex digits) of the repository at `url`, kept at ``cache/git/<commit>.git``.

    Submodules are fetched at the commits they are pinned to, left out (and noted), or, with None, refused. Raises
    `InputError` for what cannot be part of a tree or is not there, `HostError` when it cannot be had.
    """
    contents, keep = in_memory()
    gatherer = Gatherer(caps=caps or Caps(), keep=keep)
    try:
        _Reader(gatherer, cache, submodules).commit(url, commit, b"", 0)
    except CapsReached:
        raise InputError(f"the repository is too big: {gatherer.oddities[-1].detail}") from None
    gatherer.judge_links(keep_escaping=False)
    tree = Tree.checked(gatherer.entries, contents)
    return Gathered(tree=tree, oddities=tuple(gatherer.oddities))


class _Reader:
    def __init__(self, gatherer: Gatherer, cache: Path, submodules: Submodules | None) -> None:
        self._gatherer = gatherer
        self._cache = cache
        self._submodules = submodules

    def commit(self, url: str, commit: str, prefix: bytes, depth: int) -> None:
        """Take the files of a commit, below the folder `prefix`."""
        place = _fetched(url, commit, self._cache)
        links: dict[bytes, str] = {}
        with closing(_Objects(place)) as objects:
            top = objects.get(ObjectID(commit.encode()), Commit)
            self._folder(objects, top.tree, b"", prefix, links)
            if links:
                self._linked(url, prefix, links, _modules(objects, top.tree), depth)

    def _folder(self, objects: _Objects, folder: ObjectID, path: bytes, prefix: bytes, links: dict[bytes, str]) -> None:
        for item in objects.get(folder, Folder).iteritems():
            inner = path + item.path
            if stat.S_ISDIR(item.mode):
                self._folder(objects, item.sha, inner + b"/", prefix, links)
            elif item.mode == _GITLINK:
                links[inner] = item.sha.decode()
            elif self._gatherer.admits(prefix + inner):
                content = objects.get(item.sha, Blob).as_raw_string()
                if self._gatherer.fits(prefix + inner, len(content)):
                    self._gatherer.add(prefix + inner, _mode(item.mode), content)

    def _linked(
        self, url: str, prefix: bytes, links: Mapping[bytes, str], modules: Mapping[bytes, str], depth: int
    ) -> None:
        if self._submodules is None:
            names = ", ".join(sorted(os.fsdecode(path) for path in links))
            raise InputError(f"the commit has submodules ({names}); say submodules: fetch, or submodules: leave_out")
        for path, commit in sorted(links.items()):
            if self._submodules == "leave_out":
                detail = f"a submodule at commit {commit}, left out as the descriptor says"
                self._gatherer.note(prefix + path, OddityKind.SUBMODULE, detail)
                continue
            where = _submodule_url(url, modules.get(path), os.fsdecode(prefix + path))
            if depth >= _DEEPEST:
                raise InputError(f"submodules lie deeper within one another than {_DEEPEST}: {os.fsdecode(path)}")
            self.commit(where, commit, prefix + path + b"/", depth + 1)


def _mode(mode: int) -> int:
    if stat.S_ISLNK(mode):
        return LINK
    return PROGRAM if mode & stat.S_IXUSR else FILE


def _modules(objects: _Objects, root: ObjectID) -> dict[bytes, str]:
    """The URL of each submodule by its path, as the commit's own .gitmodules has it."""
    for item in objects.get(root, Folder).iteritems():
        if item.path == b".gitmodules" and stat.S_ISREG(item.mode):
            content = objects.get(item.sha, Blob).as_raw_string()
            try:
                found = list(parse_submodules(ConfigFile.from_file(io.BytesIO(content))))
            except (ValueError, KeyError) as error:
                raise InputError(f"the commit's .gitmodules cannot be read: {error}") from error
            return {path: url.decode("utf-8", "surrogateescape") for path, url, _ in found}
    return {}


def _submodule_url(parent: str, url: str | None, path: str) -> str:
    if url is None:
        raise InputError(f"the commit's .gitmodules has no URL for the submodule {path!r}; leave submodules out")
    if url.startswith(("./", "../")):
        parts = urlsplit(parent)
        url = parts._replace(path=posixpath.normpath(posixpath.join(parts.path, quote(url)))).geturl()
    flaw = url_flaw(url)
    if flaw is None and urlsplit(url).scheme == "file" and urlsplit(parent).scheme != "file":
        flaw = "would be read from this machine"
    if flaw is not None:
        raise InputError(f"submodule {path!r} cannot be fetched: its URL {url!r} {flaw}; leave submodules out")
    return url


class _Objects:
    """Git objects by id, each held against the id it was asked for."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._store = DiskObjectStore(repository / "objects")

    def get[O: ShaFile](self, object_id: ObjectID, kind: type[O]) -> O:
        """The object. Raises `HostError` if what is kept is not it."""
        try:
            number, raw = self._store.get_raw(object_id)
            found = ShaFile.from_raw_string(number, raw)
            head = f"{found.type_name.decode()} {len(raw)}\0".encode()
        except UNREADABLE as error:
            raise self._damaged(object_id) from error
        # Git's own names of things, not a protection of ours: SHA-1 is what the format has.
        if hashlib.sha1(head + raw, usedforsecurity=False).hexdigest() != object_id.decode():
            raise self._damaged(object_id)
        if not isinstance(found, kind):
            raise InputError(f"{object_id.decode()} is a {found.type_name.decode()}, not a {kind.type_name.decode()}")
        return found

    def _damaged(self, object_id: ObjectID) -> HostError:
        return HostError(f"git object {object_id.decode()} is missing or damaged; remove {self._repository}")

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()


def _fetched(url: str, commit: str, cache: Path) -> Path:
    """The bare repository that holds the commit; `url` is asked only when it is not there yet."""
    place = cache / "git" / f"{commit}.git"
    if not place.is_dir():
        _check_local(url)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetching-") as making:
            draft = bare_repository(Path(making) / "repo.git")
            _fetch(draft, url, commit)
            move_into_place(draft, place)
    return place


def _check_local(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "file" and not os.path.isdir(unquote(parts.path)):  # noqa: PTH112 - answers for any name
        raise InputError(f"there is no repository at {url}")


def _fetch(draft: Path, url: str, commit: str) -> None:
    """Fetch the one commit, or, from a server that gives out only what has a name, everything."""
    refusals = []
    for wanted in (("--depth=1", "--", url, commit), ("--", url, "+refs/*:refs/fetched/*")):
        try:
            git(*_FETCH, *wanted, repository=draft, environ=_environ())
        except HostError as error:
            refusals.append(error)
            if not _lacks(error):
                raise _failure(url, error) from error
            continue
        if _has(draft, commit):
            return
    cause = refusals[-1] if refusals else None
    raise InputError(f"{url} has no commit {commit}" + (f" ({_reason(cause)})" if cause else "")) from cause


def _failure(url: str, error: HostError) -> HostError | InputError:
    """What to raise when git could not fetch: a repository of this machine that is none is the fault of its address."""
    mend = next((mend for words, mend in _MENDS.items() if words in str(error)), None)
    is_here = urlsplit(url).scheme == "file"
    kind = InputError if is_here else HostError
    return kind(f"{url} cannot be fetched: {_reason(error)}; {mend or ('look at it' if is_here else 'go online once')}")


def _lacks(error: HostError) -> bool:
    """Whether git says that the other side answered, but does not give out that commit."""
    return any(words in str(error) for words in ("not our ref", "unadvertised object", "couldn't find remote ref"))


def _reason(error: HostError) -> str:
    first = str(error).splitlines()[0]
    return first.partition(" failed in ")[2].partition(": ")[2] or first


def _has(repository: Path, commit: str) -> bool:
    with closing(DiskObjectStore(repository / "objects")) as store:
        return ObjectID(commit.encode()) in store


def _environ() -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in _FROM_OUTSIDE if name in os.environ},
        "GIT_ALLOW_PROTOCOL": ":".join(SCHEMES),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
    }
