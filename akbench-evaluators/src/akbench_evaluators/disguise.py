"""Hidden tests under random names, so that who knows a public suite by heart meets none of its names; pure.

Only what nothing else can refer to is renamed: a name that stands once in its file and nowhere else but where another
test is defined. Lines keep their numbers.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from akbench_evaluators.planting import fresh_name, usual_words

__all__ = ["Disguise", "disguise"]

_WORD = re.compile(rb"\w+")
_DEFINED = re.compile(rb"\bdef\s+(\w+)")
_NAME = re.compile(r"\btest_\w+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Disguise:
    """What stands where: `paths` and `sources` by the files' own paths, `originals` from new to old names."""

    paths: Mapping[str, str]
    sources: Mapping[str, bytes]
    originals: Mapping[str, str]

    def reveal(self, text: str) -> str:
        """The text, such as a node id or an explanation, with the names as they were."""
        return _NAME.sub(lambda found: self.originals.get(found[0], found[0]), text)


def disguise(
    sources: Mapping[str, bytes], hidden: Collection[str], elsewhere: bytes, chance: random.Random
) -> Disguise:
    """Give the tests in the `hidden` ones among `sources` (path -> source), and those files, other names.

    `elsewhere` is whatever else may refer to them by name; a file whose own path is in there keeps it.
    """
    everything = b"\n".join((elsewhere, *sources.values()))
    words, defined = Counter(_WORD.findall(everything)), Counter(_DEFINED.findall(everything))
    originals: dict[str, str] = {}
    paths: dict[str, str] = {}
    changed: dict[str, bytes] = {}
    for path in sorted(hidden):
        tests = _tests(sources[path])
        names = _Names(usual_words(tests), everything, originals, chance)
        within = Counter(_WORD.findall(sources[path]))
        free = [test for test in tests if _once(test, within) and words[test.encode()] == defined[test.encode()]]
        changed[path] = _renamed(sources[path], {test: names.new(test) for test in free})
        stem = PurePosixPath(path).stem
        if stem.startswith("test_") and stem.encode() not in words:
            paths[path] = str(PurePosixPath(path).with_name(f"{names.new(stem)}.py"))
    return Disguise(paths=paths, sources=changed, originals=originals)


@dataclass(frozen=True)
class _Names:
    words: list[str]
    taken: bytes
    originals: dict[str, str]
    chance: random.Random

    def new(self, name: str) -> str:
        """A name in the place of `name`, noted in `originals`."""
        while (new := fresh_name(self.words, self.taken, self.chance)) in self.originals:
            continue
        self.originals[new] = name
        return new


def _once(name: str, words: Mapping[bytes, int]) -> bool:
    return words.get(name.encode(), 0) == 1


def _tests(source: bytes) -> list[str]:
    """Test functions of the module and of its classes without bases: unittest runs its tests in the order of names."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    plain = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test")]
    nodes = [*module.body, *(each for node in plain if not node.bases for each in node.body)]
    return [node.name for node in nodes if isinstance(node, _FUNCTIONS) and node.name.startswith("test")]


def _renamed(source: bytes, names: Mapping[str, str]) -> bytes:
    for name, new in names.items():
        source = re.sub(rb"\bdef(\s+)%s\b" % name.encode(), rb"def\1" + new.encode(), source, count=1)
    return source
