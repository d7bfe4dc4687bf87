"""Where trees come from: real repositories, folders and archives on this disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest

from akbench.dataset.archive import read_archive
from akbench.dataset.directory import read_directory
from akbench.dataset.format import RepositoryFile
from akbench.dataset.gather import OddityKind
from akbench.dataset.git_source import _failure, _submodule_url, read_commit
from akbench.dataset.locations import url_flaw
from akbench.dataset.source import read_source
from akbench.dataset.tree import FILE, LINK, PROGRAM
from akbench.descriptors.document import parse
from akbench.spec import HostError, InputError

ENVIRON = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def git(repository: Path, *arguments: str | bytes) -> str:
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "protocol.file.allow=always")
    command = ["git", *settings, "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRON).stdout.strip()


def commit(repository: Path, files: dict[str | bytes, bytes], message: str = "change") -> str:
    if not (repository / ".git").exists():
        repository.mkdir(parents=True)
        git(repository, "init", "-q", "-b", "main")
    for name, content in files.items():
        path = os.path.join(os.fsencode(repository), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    repository = tmp_path / "up stream"
    commit(
        repository,
        {
            "a.txt": b"unix\n",
            "b.txt": b"dos\r\n",
            b"l\xe4tin.bin": b"\0\xff",
            "data/big.bin": POINTER,
            ".gitattributes": b"* text=auto eol=crlf ident\n*.bin filter=lfs\nhidden export-ignore\n",
            "hidden": b"$Id$\n",
            "run": b"#!/bin/sh\n",
        },
    )
    (repository / "run").chmod(0o755)
    (repository / "link").symlink_to("data/big.bin")
    commit(repository, {}, "modes")
    return repository


def head(repository: Path) -> str:
    return git(repository, "rev-parse", "HEAD")


def test_a_commit_is_taken_exactly_as_git_has_it(upstream: Path, cache: Path):
    tree = read_commit(upstream.as_uri(), head(upstream), cache).tree
    assert tree.id == git(upstream, "rev-parse", "HEAD^{tree}")
    assert {path: entry.mode for path, entry in tree.entries.items() if entry.mode != FILE} == {
        b"run": PROGRAM,
        b"link": LINK,
    }
    assert b"l\xe4tin.bin" in tree.entries
    assert tree.read(b"data/big.bin") == POINTER


def test_a_commit_that_is_no_branch_s_last_is_found_too(upstream: Path, cache: Path):
    old = git(upstream, "rev-parse", "HEAD~1")
    assert read_commit(upstream.as_uri(), old, cache).tree.id == git(upstream, "rev-parse", "HEAD~1^{tree}")


def test_a_kept_commit_needs_its_repository_no_more(upstream: Path, cache: Path):
    wanted = head(upstream)
    first = read_commit(upstream.as_uri(), wanted, cache).tree
    shutil.rmtree(upstream)
    assert read_commit("https://gone.invalid/repository.git", wanted, cache).tree == first


def test_no_configuration_and_no_hook_of_anyone_counts(upstream: Path, cache: Path, tmp_path: Path, monkeypatch):
    mark = tmp_path / "ran"
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[url "file:///nowhere"]\n\tinsteadOf = {upstream.as_uri()}\n[uploadpack]\n\tpackObjectsHook = touch {mark};\n'
        f'[filter "lfs"]\n\tsmudge = touch {mark}\n'
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(settings))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    for hook in ("post-checkout", "reference-transaction", "post-update", "pre-auto-gc"):
        path = upstream / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
    assert b"a.txt" in read_commit(upstream.as_uri(), head(upstream), cache).tree.entries
    assert not mark.exists()


def test_a_commit_that_is_not_there_is_refused(upstream: Path, cache: Path):
    with pytest.raises(InputError, match="has no commit 1234567890"):
        read_commit(upstream.as_uri(), "1234567890" * 4, cache)
    assert list((cache / "git").iterdir()) == []


def test_a_repository_that_is_not_there_is_refused(tmp_path: Path, cache: Path):
    with pytest.raises(InputError, match="there is no repository at file://"):
        read_commit((tmp_path / "none").as_uri(), "0" * 40, cache)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match=r"does not appear to be a git repository; name the folder of a git repository"
    ):
        read_commit((tmp_path / "empty").as_uri(), "0" * 40, cache)


def test_the_id_of_something_else_than_a_commit_is_refused(upstream: Path, cache: Path):
    with pytest.raises(InputError, match="is a tree, not a commit"):
        read_commit(upstream.as_uri(), git(upstream, "rev-parse", "HEAD^{tree}"), cache)


@pytest.mark.parametrize("damage", [None, b"blob 4\0evil", b"no object"])
def test_a_damaged_cache_is_noticed(upstream: Path, cache: Path, damage: bytes | None):
    read_commit(upstream.as_uri(), head(upstream), cache)
    (kept,) = cache.glob("git/*.git")
    (pack,) = kept.glob("objects/pack/*.pack")
    moved = pack.rename(cache / "pack")
    pack.with_suffix(".idx").unlink()
    subprocess.run(
        ["git", "--git-dir", kept, "unpack-objects", "-q"], input=moved.read_bytes(), check=True, env=ENVIRON
    )
    name = git(upstream, "rev-parse", "HEAD:a.txt")
    loose = kept / "objects" / name[:2] / name[2:]
    loose.unlink()
    if damage is not None:
        loose.write_bytes(zlib.compress(damage))
    with pytest.raises(HostError, match=rf"git object {name} is missing or damaged; remove .*\.git"):
        read_commit(upstream.as_uri(), head(upstream), cache)


@pytest.fixture
def nested(upstream: Path, tmp_path: Path) -> Path:
    repository = tmp_path / "nested"
    commit(repository, {"top.txt": b"top\n"})
    git(repository, "submodule", "--quiet", "add", "../up stream", "vendor/up")
    commit(repository, {})
    git(repository, "config", "-f", ".gitmodules", "submodule.vendor/up.url", "../up stream/.git")
    commit(repository, {})
    return repository


def test_submodules_are_refused_unless_it_is_said_what_to_do(nested: Path, cache: Path):
    with pytest.raises(InputError, match=r"has submodules \(vendor/up\); say submodules: fetch"):
        read_commit(nested.as_uri(), head(nested), cache)


def test_a_submodule_left_out_is_noted(nested: Path, cache: Path):
    found = read_commit(nested.as_uri(), head(nested), cache, submodules="leave_out")
    assert set(found.tree.entries) == {b"top.txt", b".gitmodules"}
    (note,) = found.oddities
    assert (note.path, note.kind, note.kept) == (b"vendor/up", OddityKind.SUBMODULE, False)


def test_a_submodule_is_fetched_at_the_commit_it_is_pinned_to(nested: Path, upstream: Path, cache: Path):
    pinned = git(upstream, "rev-parse", "HEAD^{tree}")
    commit(upstream, {"later.txt": b""})
    tree = read_commit(nested.as_uri(), head(nested), cache, submodules="fetch").tree
    assert b"vendor/up/later.txt" not in tree.entries
    assert tree.only(("vendor/up/**",)).entries.keys() == {
        b"vendor/up/" + name for name in read_commit(upstream.as_uri(), head(upstream), cache).tree.entries
    } - {b"vendor/up/later.txt"}
    assert len(pinned) == 40


@pytest.mark.parametrize(
    ("parent", "url", "expected"),
    [
        ("https://h.example/a/b.git", "../c.git", "https://h.example/a/c.git"),
        ("https://h.example/a/b.git", "ssh://git@h.example/c.git", "ssh://git@h.example/c.git"),
        ("https://h.example/a/b.git", "file:///etc", "would be read from this machine"),
        ("https://h.example/a/b.git", "ext::sh -c evil", "is no https"),
        ("https://h.example/a/b.git", "--upload-pack=evil", "is no https"),
        ("https://h.example/a/b.git", "git@h.example:c.git", "is no https"),
        ("https://h.example/a/b.git", None, "has no URL for the submodule 'x'"),
    ],
)
def test_a_submodule_s_url_is_held_to_the_same_rules(parent: str, url: str | None, expected: str):
    if "://" in expected:
        assert _submodule_url(parent, url, "x") == expected
        return
    with pytest.raises(InputError, match=expected):
        _submodule_url(parent, url, "x")


@pytest.mark.parametrize("url", ["https://h.example/a", "ssh://git@h.example:22/a/b", "file:///a/b"])
def test_an_address_is_https_ssh_or_a_path_of_this_machine(url: str):
    assert url_flaw(url) is None


HEAD = 'schema_version: "1.0"\nid: r\nversion: "1.0.0"\nrepository:\n  license: MIT\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: git, url: 'http://h.example/a', commit: X", r"r:5:36: .*is no https://, ssh:// or file:// URL"),
        ("source: git, url: '-u x', commit: X", "r:5:.*'-u x' is no https"),
        ("source: git, url: 'ssh://-oProxyCommand=x/y', commit: X", "r:5:.*has no host"),
        ("source: git, url: 'https://me:secret@h.example/a', commit: X", "holds a user or password"),
        ("source: git, url: 'https://h.example', commit: X", "has no path"),
        ("source: git, url: 'file://h/a', commit: X", "has no host that it could be fetched from"),
        ("source: git, url: 'https://h.example/a b', commit: X", "holds white space"),
        ("source: git, url: 'https://h.example/a', commit: main", r"r:5:\d+: repository.commit: .*match pattern"),
        ("source: git, url: 'https://h.example/a', commit: X, submodules: maybe", "repository.submodules: .*'fetch'"),
        ("source: git, url: 'https://h.example/a'", "missing key 'repository.commit'"),
        ("source: local, path: '', tree: X", r"repository.path: .*at least 1"),
        ("source: local, path: x, tree: X, commit: X", "unknown key 'commit'"),
        ("source: archive, sha256: Y", "an archive has either a url or a path"),
        ("source: archive, sha256: Y, path: x, url: 'https://h.example/a.zip'", "either a url or a path"),
        ("source: archive, sha256: Y, url: 'http://h.example/a.zip'", "is no https"),
        ("source: archive, sha256: Y, url: 'file:///a.zip'", "give a file of this machine as path"),
        ("source: svn, url: x", "r:5:.*'svn'"),
    ],
)
def test_a_source_that_cannot_be_meant_is_refused_where_it_stands(text: str, message: str):
    flow = text.replace("X", "a" * 40).replace("Y", "b" * 64)
    document = parse(HEAD.replace("  license: MIT\n", "") + "  {license: MIT, " + flow + "}\n", "r")
    with pytest.raises(InputError, match=message):
        document.validate(RepositoryFile)


def source(tmp_path: Path, cache: Path, text: str):
    """Read what a repository.yaml in a dataset of a project says."""
    document = parse(HEAD + text, "repository.yaml")
    return read_source(document, document.validate(RepositoryFile), tmp_path / "datasets" / "d", cache)


def test_a_pointer_to_a_large_file_is_recorded(upstream: Path, cache: Path, tmp_path: Path):
    found = source(tmp_path, cache, f"  source: git\n  url: {upstream.as_uri()}\n  commit: {head(upstream)}\n")
    assert [(each.path, each.kind, each.kept) for each in found.oddities] == [
        (b"l\xe4tin.bin", OddityKind.STRANGE_NAME, True),
        (b"data/big.bin", OddityKind.LFS_POINTER, True),
    ]


def test_what_cannot_be_in_a_tree_is_refused_unless_it_is_removed(upstream: Path, cache: Path, tmp_path: Path):
    (upstream / "away").symlink_to("/etc/passwd")
    commit(upstream, {})
    text = f"  source: git\n  url: {upstream.as_uri()}\n  commit: {head(upstream)}\n"
    with pytest.raises(InputError, match=r"repository\.yaml:5:3: 'away' cannot be part of a task: leads out"):
        source(tmp_path, cache, text)
    assert b"away" not in source(tmp_path, cache, text + "  remove: [away]\n").tree.entries


def test_a_local_folder_is_kept_as_the_tree_it_was(tmp_path: Path, cache: Path):
    (tmp_path / "mine" / "src").mkdir(parents=True)
    (tmp_path / "mine" / "src" / "m.py").write_text("x = 1\n")
    tree = read_directory(tmp_path / "mine").tree
    text = "  source: local\n  path: mine\n  tree: "
    with pytest.raises(InputError, match=rf"repository\.yaml:5:3: the tree of .*mine is {tree.id}, not ffff"):
        source(tmp_path, cache, text + "f" * 40)
    assert source(tmp_path, cache, text + tree.id).tree == tree
    shutil.rmtree(tmp_path / "mine")
    assert source(tmp_path, cache, text + tree.id).tree == tree
    with pytest.raises(InputError, match="there is no such folder"):
        source(tmp_path, cache, text + "f" * 40)


def packed(path: Path, names: dict[str, tuple[int, bytes]]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, (mode, content) in names.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            member.create_system = 3
            archive.writestr(member, content)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_zip_archive_is_read_with_modes_links_and_names(tmp_path: Path, cache: Path):
    sha256 = packed(
        tmp_path / "a.zip",
        {
            "top/": (0o40755, b""),
            "top/m.py": (0o100644, b"x\r\n"),
            "top/run": (0o100755, b"#!"),
            "top/l": (0o120777, b"m.py"),
            "top/ö": (0o100644, b""),
        },
    )
    found = source(tmp_path, cache, f"  source: archive\n  path: a.zip\n  sha256: {sha256}\n").tree
    assert {path: entry.mode for path, entry in found.entries.items()} == {
        b"m.py": FILE, b"run": PROGRAM, b"l": LINK, "ö".encode(): FILE,
    }  # fmt: skip
    assert found.read(b"m.py") == b"x\r\n"
    (tmp_path / "a.zip").unlink()
    assert source(tmp_path, cache, f"  source: archive\n  path: a.zip\n  sha256: {sha256}\n").tree == found


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"../x": (0o100644, b"")}, r"'\.\./x' lies outside the archive's folder"),
        ({"a/x": (0o100644, b""), "b/x": (0o100644, b"")}, "'b/x' lies beside the folder"),
        ({}, "the archive is empty"),
    ],
)
def test_a_zip_archive_with_anything_beside_its_folder_is_refused(names, message, tmp_path: Path):
    packed(tmp_path / "a.zip", names)
    with pytest.raises(InputError, match=message):
        read_archive(tmp_path / "a.zip")


def test_an_archive_that_is_not_there_or_another_is_refused(tmp_path: Path, cache: Path):
    sha256 = packed(tmp_path / "a.zip", {"a/x": (0o100644, b"")})
    text = "  source: archive\n  path: a.zip\n  sha256: "
    with pytest.raises(InputError, match=f"is given as ffff.*, but it is {sha256}"):
        source(tmp_path, cache, text + "f" * 64)
    with pytest.raises(InputError, match=r"repository\.yaml:5:3: there is no file .*b\.zip"):
        source(tmp_path, cache, text.replace("a.zip", "b.zip") + sha256)


@pytest.mark.parametrize(
    ("url", "said", "kind", "mend"),
    [
        ("file:///x", "fatal: detected dubious ownership in repository at '/x'", InputError, "make it yours"),
        ("file:///x", "fatal: something else", InputError, "look at it"),
        ("ssh://h/x", "ssh -oBatchMode=yes: 1: ssh: not found", HostError, "install an ssh client"),
        ("ssh://h/x", "Host key verification failed.", HostError, "connect to the host once by hand"),
        ("ssh://h/x", "git@h: Permission denied (publickey).", HostError, "a key for it that asks for no passphrase"),
        ("https://h/x", "fatal: could not read Username for 'https://h'", HostError, "not public or not there"),
        (
            "https://h/x",
            "fatal: unable to access 'https://h/x/': SSL certificate problem",
            HostError,
            "in GIT_SSL_CAINFO",
        ),
        ("https://h/x", "fatal: repository 'https://h/x/' not found", HostError, "look at the address"),
        ("https://h/x", "fatal: Could not resolve host: h", HostError, "go online once"),
    ],
)
def test_what_git_could_not_fetch_is_told_with_what_to_do(url: str, said: str, kind: type[Exception], mend: str):
    failed = _failure(url, HostError(f"git fetch failed in /cache/repo.git: {said}"))
    assert type(failed) is kind
    assert str(failed).startswith(f"{url} cannot be fetched: {said}; ")
    assert mend in str(failed)
