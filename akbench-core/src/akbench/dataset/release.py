"""Archives: releases of the package index and others, fetched once and kept by their hash."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import requests
from packaging.version import InvalidVersion, Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoSuchProjectError,
    PyPISimple,
    UnsupportedContentTypeError,
    UnsupportedRepoVersionError,
)

from akbench.spec import HostError, InputError

__all__ = ["fetch_archive", "fetch_sdist", "sdist_sha256"]

_TIMEOUT_SECONDS = (10.0, 60.0)
_MANY = 8
_LARGEST = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release:
    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def fetch_sdist(name: str, version: str, sha256: str, cache: Path, *, index_url: str = PYPI_SIMPLE_ENDPOINT) -> Path:
    """The release's ``.tar.gz``, at ``cache/archives/<sha256>``; the index is asked only when it is not there yet.

    The archive's hash is checked at each call. Nothing in it is run or built. Raises `InputError` when the index has
    no such release or lists another hash, `HostError` when the index or the archive cannot be had.
    """
    release = _Release(name=name, version=version, sha256=sha256)
    place = cache / "archives" / sha256
    if place.is_file() and _sha256(place) == sha256:
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with PyPISimple(index_url) as index:
            _download(index, _find(index, release), release, place)
    except (requests.RequestException, UnsupportedContentTypeError, UnsupportedRepoVersionError) as error:
        raise HostError(
            f"{release} cannot be fetched from the package index: {_reason(error)}; go online once, "
            f"or put the .tar.gz at {place}"
        ) from error
    return place


def sdist_sha256(name: str, version: str, *, index_url: str = PYPI_SIMPLE_ENDPOINT) -> str:
    """The sha256 that the package index lists for the release's ``.tar.gz``. Raises as `fetch_sdist` does."""
    release = _Release(name=name, version=version, sha256="")
    try:
        with PyPISimple(index_url) as index:
            found = _sdist(index, release)
    except (requests.RequestException, UnsupportedContentTypeError, UnsupportedRepoVersionError) as error:
        raise HostError(f"the package index cannot be asked for {release}: {_reason(error)}; go online") from error
    listed = found.digests.get("sha256")
    if listed is None:
        raise InputError(f"the package index lists no sha256 for {found.filename}")
    return listed


def fetch_archive(where: str | Path, sha256: str, cache: Path) -> Path:
    """The archive from a URL or a file, at ``cache/archives/<sha256>``; `where` is asked only when it is not there yet.

    Raises `InputError` when the file is missing or has another hash, `HostError` when the URL cannot be had.
    """
    place = cache / "archives" / sha256
    if place.is_file() and _sha256(place) == sha256:
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetching-") as folder:
        draft = Path(folder) / "archive"
        if isinstance(where, Path):
            _copy(where, draft)
        else:
            _get(where, draft)
        found = _sha256(draft)
        if found != sha256:
            raise InputError(f"sha256 of {where} is given as {sha256}, but it is {found}")
        draft.replace(place)
    return place


def _copy(source: Path, draft: Path) -> None:
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    shutil.copyfile(source, draft)


def _get(url: str, draft: Path) -> None:
    """Download without asking the user's files for a password: the address is that of anybody's dataset."""
    try:
        with requests.get(url, stream=True, timeout=_TIMEOUT_SECONDS, auth=lambda request: request) as answer:
            answer.raise_for_status()
            with draft.open("wb") as file:
                for chunk in answer.iter_content(1 << 16):
                    file.write(chunk)
                    if file.tell() > _LARGEST:
                        raise InputError(f"{url} is larger than {_LARGEST} bytes")
    except requests.RequestException as error:
        raise HostError(f"{url} cannot be fetched: {_reason(error)}; go online once") from error


def _find(index: PyPISimple, release: _Release) -> DistributionPackage:
    return _with_hash(_sdist(index, release), release)


def _sdist(index: PyPISimple, release: _Release) -> DistributionPackage:
    try:
        packages = index.get_project_page(release.name, timeout=_TIMEOUT_SECONDS).packages
    except NoSuchProjectError as error:
        raise InputError(f"the package index has no project {release.name!r}") from error
    archives = [package for package in packages if package.filename.endswith(".tar.gz")]
    for package in archives:
        if package.package_type == "sdist" and _same_version(package.version, release.version):
            return package
    known = ", ".join(package.version for package in archives[-_MANY:] if package.version)
    raise InputError(f"the package index has no .tar.gz of {release}; the last versions with one: {known or 'none'}")


def _same_version(listed: str | None, wanted: str) -> bool:
    try:
        return listed is not None and Version(listed) == Version(wanted)
    except InvalidVersion:
        return listed == wanted


def _with_hash(package: DistributionPackage, release: _Release) -> DistributionPackage:
    listed = package.digests.get("sha256")
    if listed != release.sha256:
        raise InputError(
            f"sha256 of {release} is given as {release.sha256}, but the package index lists {listed or 'none'} "
            f"for {package.filename}"
        )
    return package


def _download(index: PyPISimple, package: DistributionPackage, release: _Release, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetching-") as folder:
        draft = Path(folder) / "archive"
        # The hash is checked below, against what the task says; what the index says was compared before.
        index.download_package(package, draft, verify=False, timeout=_TIMEOUT_SECONDS)
        found = _sha256(draft)
        if found != release.sha256:
            raise HostError(
                f"what came from the package index for {release} is not what it lists: its sha256 is {found}, "
                f"not {release.sha256}; try again, and check what stands between this machine and the index"
            )
        draft.replace(place)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    if isinstance(error, requests.HTTPError):
        return f"it answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "it did not answer in time"
    return "it cannot be reached" if isinstance(error, requests.ConnectionError) else type(error).__name__
