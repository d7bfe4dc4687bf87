"""Reading an evaluator's configuration; each fault names its key and the mend."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from akbench.spec import InputError, JsonValue

__all__ = ["count", "flag", "reject_unknown_keys", "require_seconds", "text", "texts"]

LONGEST_SECONDS = 7 * 24 * 3600


def reject_unknown_keys(config: Mapping[str, JsonValue], known: Collection[str]) -> None:
    """Raise `InputError` for a key that the evaluator does not read."""
    for key in config:
        if key not in known:
            raise InputError(f"evaluator config: unknown key {key!r}; use one of {', '.join(sorted(known))}")


def texts(config: Mapping[str, JsonValue], key: str, *, required: bool = False) -> tuple[str, ...]:
    """The list of non-empty strings at `key`; empty when it is absent and not required."""
    value = config.get(key)
    if value is None and not required:
        return ()
    if not isinstance(value, list):
        raise InputError(f"evaluator config: {key!r} is {_kind(value)}; make it a list of strings")
    if required and not value:
        raise InputError(f"evaluator config: {key!r} is empty; give at least one string")
    return tuple(_text(item, key) for item in value)


def require_seconds(config: Mapping[str, JsonValue], key: str) -> None:
    """Raise `InputError` unless the number at `key`, if any, is a positive count of seconds."""
    value = config.get(key)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_SECONDS:
        raise InputError(
            f"evaluator config: {key!r} is {value!r}; make it a positive number of seconds, at most {LONGEST_SECONDS}"
        )


def text(config: Mapping[str, JsonValue], key: str) -> str | None:
    """The non-empty string at `key`, None when it is absent."""
    value = config.get(key)
    if value is None or (isinstance(value, str) and value and "\0" not in value):
        return value
    raise InputError(f"evaluator config: {key!r} is {value!r}; make it a text, in quotes")


def count(config: Mapping[str, JsonValue], key: str, *, least: int = 0) -> int | None:
    """The integer at `key`, at least `least`; None when it is absent."""
    value = config.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        return value
    raise InputError(f"evaluator config: {key!r} is {value!r}; make it an integer, at least {least}")


def flag(config: Mapping[str, JsonValue], key: str, *, default: bool) -> bool:
    """The truth value at `key`."""
    value = config.get(key, default)
    if isinstance(value, bool):
        return value
    raise InputError(f"evaluator config: {key!r} is {value!r}; make it true or false")


def _text(item: JsonValue, key: str) -> str:
    if isinstance(item, str) and item and "\0" not in item:
        return item
    raise InputError(f"evaluator config: {key!r} holds {item!r}; each entry is a non-empty string, quote it")


def _kind(value: JsonValue) -> str:
    return "missing" if value is None else repr(value)
