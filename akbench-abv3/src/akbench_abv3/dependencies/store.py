"""Where credentials are kept between runs: a private file, or the system's keyring."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from akbench_abv3.completed import CONFIG_FOLDER, KEYRING_SERVICE, MIB, STORE_FILE
from akbench_abv3.reading.bounded import UnreadableError, is_file, is_there, read_text
from akbench_abv3.reading.toml_text import parse_toml
from akbench_abv3.writing import toml_string, write_atomically

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

__all__ = [
    "CredentialStore",
    "FileStore",
    "KeyringStore",
    "StoreError",
    "config_folder",
    "home_folder",
    "open_store",
    "user_folder",
]


class StoreError(Exception):
    """The store cannot be used; the text says why and what to do."""


class CredentialStore(Protocol):
    """Values by variable name."""

    def get(self, variable: str) -> str | None:
        """Return the stored value, or None."""

    def put(self, variable: str, value: str) -> None:
        """Keep a value."""

    def forget(self, variable: str) -> bool:
        """Delete a value; tell whether there was one."""

    def describe(self) -> str:
        """Say in a few words where the values are."""


def config_folder() -> Path:
    """Return the folder of this user's abv3 configuration."""
    return user_folder("XDG_CONFIG_HOME", ".config") / CONFIG_FOLDER


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder that `variable` names, as the XDG specification says: a relative one is ignored."""
    named = os.environ.get(variable, "")
    return Path(named) if os.path.isabs(named) else home_folder() / below_home  # noqa: PTH117 - "" is not absolute


def home_folder() -> Path:
    """Return this user's home; StoreError where the machine knows none."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise StoreError("this user has no home folder; set HOME") from error


def open_store(kind: str) -> CredentialStore:
    """Open the store `file` or `keyring`; StoreError when it cannot be trusted or is not there."""
    return KeyringStore(_keyring()) if kind == "keyring" else FileStore(config_folder() / STORE_FILE)


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("has a NUL character")
    return value


class _Stored(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    credentials: dict[str, Annotated[str, AfterValidator(_without_nul)]] = {}


class FileStore:
    """A TOML file that only its owner can read, outside any Git work tree."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, variable: str) -> str | None:
        """Return the stored value, or None."""
        return self._load().get(variable)

    def put(self, variable: str, value: str) -> None:
        """Keep a value; StoreError in a place that others can read."""
        self._save({**self._load(), variable: value})

    def forget(self, variable: str) -> bool:
        """Delete a value; tell whether there was one."""
        values = self._load()
        if variable not in values:
            return False
        self._save({name: value for name, value in values.items() if name != variable})
        return True

    def describe(self) -> str:
        """Name the file."""
        return str(self._path)

    def _load(self) -> dict[str, str]:
        if not os.path.lexists(self._path):
            return {}
        self._refuse_shared()
        try:
            return _Stored.model_validate(parse_toml(read_text(self._path, MIB))).credentials
        except (UnreadableError, ValidationError) as error:
            # A validation message quotes the value, which is a credential here.
            reason = str(error) if isinstance(error, UnreadableError) else "not a table of credentials"
            raise StoreError(f"{self._path} cannot be read: {reason}") from None

    def _save(self, values: dict[str, str]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        work_tree = next(filter(_is_work_tree, self._path.resolve().parents), None)
        if work_tree is not None:
            raise StoreError(f"{self._path} lies in the Git work tree {work_tree}; set XDG_CONFIG_HOME elsewhere")
        lines = [f"{name} = {toml_string(value)}\n" for name, value in sorted(values.items())]
        write_atomically(self._path, "[credentials]\n" + "".join(lines), mode=0o600)

    def _refuse_shared(self) -> None:
        try:
            mode = stat.S_IMODE(self._path.stat().st_mode)
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}") from error
        if mode & 0o077:
            raise StoreError(f"others can read {self._path} (mode {mode:04o}); run: chmod 600 {self._path}")


class KeyringStore:
    """The keyring of the system, through the keyring package."""

    def __init__(self, backend: KeyringBackend) -> None:
        self._backend = backend

    def get(self, variable: str) -> str | None:
        """Return the stored value, or None."""
        return self._backend.get_password(KEYRING_SERVICE, variable)

    def put(self, variable: str, value: str) -> None:
        """Keep a value."""
        self._backend.set_password(KEYRING_SERVICE, variable, value)

    def forget(self, variable: str) -> bool:
        """Delete a value; tell whether there was one."""
        if self.get(variable) is None:
            return False
        self._backend.delete_password(KEYRING_SERVICE, variable)
        return True

    def describe(self) -> str:
        """Name the keyring."""
        return f"keyring {type(self._backend).__module__}"


def _is_work_tree(folder: Path) -> bool:
    git = folder / ".git"
    return is_file(git) or is_there(git / "HEAD")


def _keyring() -> KeyringBackend:
    try:
        import keyring
    except ImportError as error:
        raise StoreError("the keyring package is missing: pip install 'akbench-abv3[keyring]'") from error
    backend = keyring.get_keyring()
    if backend.priority < 1:  # the keyring package's own line between recommended and not
        name = type(backend).__module__
        raise StoreError(f"this machine has no usable keyring (found {name}); use --store file")
    return backend
