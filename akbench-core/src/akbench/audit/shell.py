"""What a shell command line runs: its simple commands, the code it hands to interpreters, the files it writes.

This is a reading, not an execution: what a command computes as it runs (variables, generated scripts) stays unseen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

__all__ = ["Reading", "Simple", "read_command"]

_LONGEST = 20_000
_DEPTH = 4
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n(.*?)(?:^\t*\2\s*$|\Z)", re.DOTALL | re.MULTILINE)
_SUBSTITUTION = re.compile(r"\$\(([^()]+)\)|`([^`]+)`")
_ASSIGNMENT = re.compile(r"\w+=")
_SEPARATORS = frozenset(";&|()\n")
_WRAPPERS = frozenset(
    [
        "command",
        "env",
        "exec",
        "ionice",
        "nice",
        "nohup",
        "setsid",
        "stdbuf",
        "sudo",
        "time",
        "timeout",
        "xargs",
        "then",
        "do",
        "else",
        "!",
    ]
)
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))
_INTERPRETERS = re.compile(r"(python|pypy|node|perl|ruby)[\d.]*")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Move to|Delete)(?: File)?: (.+)$", re.MULTILINE)
_WRITERS = frozenset(("cp", "install", "ln", "mv", "rsync"))
_IN_PLACE = frozenset(("tee", "touch", "truncate"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command: the program's bare name and its arguments."""

    program: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        """As one line."""
        return " ".join((self.program, *self.arguments))


@dataclass(slots=True)
class Reading:
    """Everything that was recognised in a command line; `tool` names a tool of the agent's own that ran none."""

    tool: str | None = None
    commands: list[Simple] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)


def read_command(text: str) -> Reading:
    """Read a command line, with the shells and substitutions within it."""
    found = Reading()
    _read(text[:_LONGEST], found, _DEPTH)
    return found


def _read(text: str, found: Reading, depth: int) -> None:
    bodies: list[tuple[str, str]] = []

    def without_body(match: re.Match[str]) -> str:
        before = text[: match.start()].rpartition("\n")[2]
        bodies.append((f"{before} {match[3]}", match[4]))
        return f"{match[3]}\n"

    plain = _HEREDOC.sub(without_body, text)
    found.written += _PATCHED.findall(text)
    for line, body in bodies:
        names = {PurePosixPath(word).name for word in line.split()}
        if any(_INTERPRETERS.fullmatch(name) for name in names):
            found.code.append(body)
        elif names & _SHELLS and depth:
            _read(body, found, depth - 1)
    for words in _split(plain):
        _take(words, found, depth)


def _split(text: str) -> Iterator[list[str]]:
    """The words of each simple command; redirections stand among them as words of their own."""
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # quotes without an end: what a shell would refuse is read word by word
        tokens = text.split()
    words: list[str] = []
    for token in tokens:
        if token and set(token) <= _SEPARATORS:
            if words:
                yield words
            words = []
        else:
            words.append(token)
    if words:
        yield words


def _take(words: list[str], found: Reading, depth: int) -> None:
    rest = _take_redirections(words, found)
    for word in rest:
        for inner in _SUBSTITUTION.findall(word) if depth else ():
            _read(inner[0] or inner[1], found, depth - 1)
    while rest and _is_wrapping(rest):
        rest = rest[1:]
    if not rest:
        return
    command = Simple(program=PurePosixPath(rest[0]).name, arguments=tuple(rest[1:]))
    found.commands.append(command)
    found.written += _written_by(command)
    inline = _inline(command)
    if inline is not None and command.program in _SHELLS and depth:
        _read(inline, found, depth - 1)
    elif inline is not None and _INTERPRETERS.fullmatch(command.program):
        found.code.append(inline)


def _take_redirections(words: list[str], found: Reading) -> list[str]:
    rest: list[str] = []
    for index, word in enumerate(words):
        if word and set(word) <= set("<>") and word != "<":
            found.written += words[index + 1 : index + 2]
        rest.append(word)
    return rest


def _is_wrapping(words: list[str]) -> bool:
    """Whether the first word only leads to the program: an assignment, a wrapper, an option or number of one."""
    first = words[0]
    if _ASSIGNMENT.match(first) or first in _WRAPPERS:
        return True
    return len(words) > 1 and bool(re.fullmatch(r"-\S*|\d+[smh]?", first))


def _inline(command: Simple) -> str | None:
    """The program given as an argument, as in ``sh -c TEXT`` and ``node -e TEXT``."""
    for option, value in zip(command.arguments, command.arguments[1:], strict=False):
        if re.fullmatch(r"-[a-z]*[ce]", option):
            return value
    return None


def _written_by(command: Simple) -> list[str]:
    names = [each for each in command.arguments if not each.startswith("-")]
    if command.program in _WRITERS:
        return names[-1:]
    if command.program in _IN_PLACE or (
        command.program == "sed" and any(a.startswith("-i") for a in command.arguments)
    ):
        return names
    return []
