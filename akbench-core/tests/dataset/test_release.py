from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from akbench.dataset.archive import read_archive
from akbench.dataset.release import fetch_archive, fetch_sdist, sdist_sha256
from akbench.spec import HostError, InputError

ARCHIVE = b"not really an archive; nothing here opens it"
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.asked.append(self.path)


@contextmanager
def served(folder):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        server.asked = []
        server.url = f"http://127.0.0.1:{server.server_port}/simple/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def index(tmp_path):
    """A package index of one project, with two versions and a wheel."""
    project = tmp_path / "index/simple/some-lib"
    project.mkdir(parents=True)
    (tmp_path / "index/some_lib-1.0.tar.gz").write_bytes(ARCHIVE)
    links = [f"some_lib-1.0.tar.gz#sha256={SHA256}", "some_lib-1.0-py3-none-any.whl", "some_lib-0.9.tar.gz"]
    page = "".join(f'<a href="/{link}">{link.partition("#")[0]}</a>\n' for link in links)
    (project / "index.html").write_text(page)
    with served(tmp_path / "index") as server:
        yield server


def fetch(index, cache, name="some-lib", version="1.0", sha256=SHA256):
    return fetch_sdist(name, version, sha256, cache, index_url=index.url)


def test_a_release_is_fetched_once_and_kept_by_its_hash(index, tmp_path):
    place = fetch(index, tmp_path / "cache")
    assert place == tmp_path / "cache/archives" / SHA256
    assert place.read_bytes() == ARCHIVE
    asked = len(index.asked)
    assert fetch(index, tmp_path / "cache") == place
    assert len(index.asked) == asked
    assert list(place.parent.iterdir()) == [place]


def test_names_and_versions_are_compared_as_the_index_does(index, tmp_path):
    assert fetch(index, tmp_path / "cache", name="Some.Lib", version="1.0.0").read_bytes() == ARCHIVE


def test_a_wrong_hash_is_told_with_the_listed_one(index, tmp_path):
    with pytest.raises(InputError, match=rf"given as 0+, but the package index lists {SHA256}"):
        fetch(index, tmp_path / "cache", sha256="0" * 64)


def test_a_release_without_a_listed_hash_is_refused(index, tmp_path):
    with pytest.raises(InputError, match="lists none"):
        fetch(index, tmp_path / "cache", version="0.9")


def test_unknown_projects_and_versions_are_told(index, tmp_path):
    with pytest.raises(InputError, match="no project 'other'"):
        fetch(index, tmp_path / "cache", name="other")
    with pytest.raises(InputError, match=r"no \.tar\.gz of some-lib 2\.0; the last versions with one: 1\.0, 0\.9"):
        fetch(index, tmp_path / "cache", version="2.0")


def test_an_archive_that_is_not_what_the_index_lists_is_not_kept(index, tmp_path):
    (tmp_path / "index/some_lib-1.0.tar.gz").write_bytes(ARCHIVE + b"!")
    with pytest.raises(HostError, match="is not what it lists"):
        fetch(index, tmp_path / "cache")
    assert list((tmp_path / "cache/archives").iterdir()) == []


def test_an_archive_that_the_index_lost_is_the_hosts_trouble(index, tmp_path):
    (tmp_path / "index/some_lib-1.0.tar.gz").unlink()
    with pytest.raises(HostError, match="it answered 404"):
        fetch(index, tmp_path / "cache")


def test_a_spoilt_archive_in_the_cache_is_fetched_anew(index, tmp_path):
    place = fetch(index, tmp_path / "cache")
    place.write_bytes(b"spoilt")
    assert fetch(index, tmp_path / "cache").read_bytes() == ARCHIVE


def test_without_a_network_the_message_says_what_to_do(index, tmp_path):
    index.url = "http://127.0.0.1:9/simple/"
    with pytest.raises(HostError, match=rf"cannot be reached; go online once, or put the .tar.gz at .*{SHA256}"):
        fetch(index, tmp_path / "cache")


def test_a_page_that_is_no_index_is_told(index, tmp_path):
    index.url = index.url.replace("simple", "some_lib-1.0.tar.gz")
    with pytest.raises((HostError, InputError), match="package index"):
        fetch(index, tmp_path / "cache")


@pytest.mark.network
def test_a_real_release_is_fetched_and_read(tmp_path):
    sha256 = "f638ddf8a1a0d134181275fb5d58b086ead7c6a72429ad725c67503f13ba30bd"
    archive = fetch_sdist("more-itertools", "10.8.0", sha256, tmp_path)
    found = read_archive(archive)
    assert b"more_itertools/recipes.py" in found.tree.entries
    assert found.oddities == ()
    assert fetch_sdist("more-itertools", "10.8.0", sha256, tmp_path, index_url="http://127.0.0.1:9/") == archive


def test_the_index_says_the_hash_of_a_release(index):
    assert sdist_sha256("some-lib", "1.0", index_url=index.url) == SHA256
    with pytest.raises(InputError, match=r"lists no sha256 for some_lib-0\.9\.tar\.gz"):
        sdist_sha256("some-lib", "0.9", index_url=index.url)
    with pytest.raises(InputError, match=r"no \.tar\.gz of some-lib 2\.0; the last versions with one: 1\.0, 0\.9"):
        sdist_sha256("some-lib", "2.0", index_url=index.url)


def test_an_archive_is_fetched_once_from_an_address(index, tmp_path):
    url = index.url.replace("/simple/", "/some_lib-1.0.tar.gz")
    place = fetch_archive(url, SHA256, tmp_path / "cache")
    assert place.read_bytes() == ARCHIVE
    assert fetch_archive("http://127.0.0.1:9/gone", SHA256, tmp_path / "cache") == place


def test_an_archive_that_cannot_be_had_or_is_another_is_refused(index, tmp_path):
    with pytest.raises(HostError, match="cannot be fetched: it answered 404"):
        fetch_archive(index.url.replace("/simple/", "/none.zip"), SHA256, tmp_path / "cache")
    with pytest.raises(InputError, match=f"is given as 0000.*, but it is {SHA256}"):
        fetch_archive(index.url.replace("/simple/", "/some_lib-1.0.tar.gz"), "0" * 64, tmp_path / "cache")
    assert list((tmp_path / "cache/archives").iterdir()) == []
