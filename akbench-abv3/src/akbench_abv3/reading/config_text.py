"""Run configs of any allowed format: does the text parse, is it a mapping, where are credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.reading.credential_shape import looks_like_credential
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.reading.toml_text import parse_toml
from akbench_abv3.reading.yaml_text import scan_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ConfigFacts", "scan_config"]

type _Trail = tuple[_Trail, str | int] | None
"""The way to a value, kept as links: writing out each path would multiply a long key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFacts:
    """What is known of a run config; its meaning belongs to the repository.

    `credentials` are the key paths of texts that look like one, never the texts.
    """

    is_mapping: bool
    credentials: tuple[str, ...]


def scan_config(text: str, suffix: str) -> ConfigFacts:
    """Return the facts of a run config with the file extension `suffix`; UnreadableError otherwise."""
    if suffix in (".yaml", ".yml"):
        facts = scan_yaml(text)
        return ConfigFacts(is_mapping=facts.is_mapping, credentials=facts.credentials)
    value = parse_toml(text) if suffix == ".toml" else parse_json(text)
    trails = (trail for trail, found in _texts(value) if looks_like_credential(found))
    return ConfigFacts(is_mapping=isinstance(value, dict), credentials=tuple(map(_written, trails)))


def _texts(value: object) -> Iterator[tuple[_Trail, str]]:
    # Iterators on a stack: dotted TOML keys nest deeper than Python recurses, and a long list is not to be copied.
    if isinstance(value, str):
        yield None, value
    open_ones: list[tuple[_Trail, Iterator[tuple[str | int, object]]]] = [(None, _inside(value))]
    while open_ones:
        trail, items = open_ones[-1]
        for step, item in items:
            if isinstance(item, str):
                yield (trail, step), item
            elif isinstance(item, dict | list):
                open_ones.append(((trail, step), _inside(item)))
                break
        else:
            open_ones.pop()


def _inside(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value if isinstance(value, list) else ()))


def _written(trail: _Trail) -> str:
    steps: list[str] = []
    while trail is not None:
        trail, step = trail
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")
