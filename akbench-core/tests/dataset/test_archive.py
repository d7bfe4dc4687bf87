from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from akbench.dataset.archive import read_archive
from akbench.dataset.gather import Caps, OddityKind
from akbench.dataset.tree import FILE, LINK, PROGRAM
from akbench.spec import InputError


def member(name, content=b"", **attributes):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, content


def archive(path, *members):
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


def link(name, target, kind=tarfile.SYMTYPE):
    return member(name, type=kind, linkname=target)


def test_the_single_top_folder_is_left_out_and_modes_are_kept(tmp_path):
    made = archive(
        tmp_path / "a.tar.gz",
        member("lib-1.0", type=tarfile.DIRTYPE),
        member("lib-1.0/run", b"#!", mode=0o755),
        member("lib-1.0/src/a.py", b"x", mode=0o664),
        link("lib-1.0/src/b.py", "a.py"),
    )
    tree = read_archive(made).tree
    assert {path: entry.mode for path, entry in tree.entries.items()} == {
        b"run": PROGRAM,
        b"src/a.py": FILE,
        b"src/b.py": LINK,
    }
    assert tree.read(b"src/b.py") == b"a.py"


def test_a_leading_dot_folder_is_no_folder(tmp_path):
    made = archive(tmp_path / "a.tar.gz", member("./lib-1.0/a", b"x"))
    assert set(read_archive(made).tree.entries) == {b"a"}


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (link("lib/out", "../../etc/passwd"), OddityKind.ESCAPING_LINK),
        (link("lib/out", "/etc/passwd"), OddityKind.ESCAPING_LINK),
        (link("lib/hard", "lib/a", tarfile.LNKTYPE), OddityKind.HARD_LINK),
        (member("lib/pipe", type=tarfile.FIFOTYPE), OddityKind.FIFO),
        (member("lib/dev", type=tarfile.CHRTYPE), OddityKind.DEVICE),
        (member("lib/.git/config", b"x"), OddityKind.HOSTILE_NAME),
        (member("lib/x/../../y", b"x"), OddityKind.HOSTILE_NAME),
        (member("lib/big", b"x" * 1001), OddityKind.HUGE_FILE),
    ],
)
def test_what_a_tree_should_not_hold_is_left_out_and_recorded(tmp_path, item, kind):
    made = archive(tmp_path / "a.tar.gz", member("lib/a", b"x"), item)
    found = read_archive(made, caps=Caps(file_bytes=1000))
    assert set(found.tree.entries) == {b"a"}
    assert [(oddity.kind, oddity.kept) for oddity in found.oddities] == [(kind, False)]


@pytest.mark.parametrize("name", ["other/a", "../a", "/etc/passwd", "loose-file"])
def test_a_member_outside_the_one_folder_refuses_the_archive(tmp_path, name):
    made = archive(tmp_path / "a.tar.gz", member("lib/a"), member(name, b"x"))
    with pytest.raises(InputError, match=r"a\.tar\.gz: not a readable"):
        read_archive(made)


def test_a_file_under_a_link_refuses_the_archive(tmp_path):
    made = archive(tmp_path / "a.tar.gz", link("lib/d", "e"), member("lib/d/x", b"x"))
    with pytest.raises(InputError, match="lies under another file"):
        read_archive(made)


def test_bounds_on_count_and_size_refuse_the_archive(tmp_path):
    made = archive(tmp_path / "a.tar.gz", member("lib/a", b"12345"), member("lib/b", b"12345"))
    with pytest.raises(InputError, match="more than 1 files"):
        read_archive(made, caps=Caps(files=1))
    with pytest.raises(InputError, match="more than 9 bytes"):
        read_archive(made, caps=Caps(total_bytes=9))


def packed(path, *blocks):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for block in blocks:
            file.write(block)
    return path


def test_an_archive_that_unpacks_without_end_is_given_up(tmp_path):
    head = tarfile.TarInfo("lib/left-out")
    head.size = 1 << 40
    made = packed(tmp_path / "a.tar.gz", head.tobuf(), b"\0" * (1 << 20))
    with pytest.raises(InputError, match="it unpacks to more than"):
        read_archive(made, caps=Caps(files=1, file_bytes=9, total_bytes=9))
    head.size = 8 << 20
    made = packed(tmp_path / "b.tar.gz", *([head.tobuf(), b"\0" * (8 << 20)] * 3))
    with pytest.raises(InputError, match="it unpacks to more than 16779264 bytes"):
        read_archive(made, caps=Caps(files=1, file_bytes=9, total_bytes=8 << 20))


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path):
    head = tarfile.TarInfo("lib/a")
    head.type, head.size = tarfile.XHDTYPE, 2 << 20
    made = packed(tmp_path / "a.tar.gz", head.tobuf(format=tarfile.USTAR_FORMAT), b"\0" * (2 << 20))
    with pytest.raises(InputError, match="a header of 2097152 bytes; the bound is 1048576"):
        read_archive(made)


def test_folders_without_number_refuse_the_archive(tmp_path):
    folder = tarfile.TarInfo("lib/d")
    folder.type = tarfile.DIRTYPE
    made = packed(tmp_path / "a.tar.gz", folder.tobuf() * 5)
    with pytest.raises(InputError, match="more than 4 members"):
        read_archive(made, caps=Caps(files=1))


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "lib/x", "GNU.sparse.realsize": "9"},
        {"GNU.sparse.map": "a,b,c"},
        {"size": "9" * 400},
    ],
    ids=["sparse_without_map", "sparse_map_of_words", "endless_size"],
)
def test_headers_that_make_no_sense_refuse_the_archive(tmp_path, headers):
    made = archive(tmp_path / "a.tar.gz", member("lib/a", b"zz", pax_headers=headers))
    with pytest.raises(InputError, match=r"a\.tar\.gz: not a readable \.tar\.gz archive"):
        read_archive(made)


def test_what_is_no_archive_says_so(tmp_path):
    whole = archive(tmp_path / "a.tar.gz", member("lib/a", bytes(100_000))).read_bytes()
    for content in (b"", b"PK\3\4 zip?", whole[: len(whole) // 2], gzip.compress(b"no tar" * 1000)):
        (tmp_path / "b.tar.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"b\.tar\.gz"):
            read_archive(tmp_path / "b.tar.gz")


def test_an_empty_archive_is_refused(tmp_path):
    with pytest.raises(InputError, match="empty"):
        read_archive(archive(tmp_path / "a.tar.gz"))
