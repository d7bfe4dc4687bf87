"""Writing files whole or not at all, and values as TOML and JSON text."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

__all__ = ["json_document", "toml_string", "write_atomically"]


def write_atomically(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace the file `path` by `text`, so that a reader sees the old or the new one, never a part."""
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None  # a failing write names no file, a rename two
        raise


def json_document(value: object) -> str:
    """Return readable JSON in plain ASCII; NaN and infinite numbers are an error."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def toml_string(text: str) -> str:
    """Return a TOML basic string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
