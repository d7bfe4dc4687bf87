"""TOML text to plain values, with the line and column of what is wrong."""

from __future__ import annotations

import tomli

from akbench_abv3.reading.bounded import UnreadableError

__all__ = ["parse_toml"]


def parse_toml(text: str) -> dict[str, object]:
    """Return the document; UnreadableError carries line:column and the parser's message."""
    try:
        return dict(tomli.loads(text))
    except tomli.TOMLDecodeError as error:
        raise UnreadableError(_placed(error)) from error
    except RecursionError as error:
        raise UnreadableError("nested too deeply") from error
    except ValueError as error:
        raise UnreadableError("a number has too many digits") from error


def _placed(error: tomli.TOMLDecodeError) -> str:
    return f"{error.lineno}:{error.colno} {error.msg}"
