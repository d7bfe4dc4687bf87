"""The command line: ``python -m tramline COMMAND FILE``."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tramline.clock import parse_time
from tramline.errors import TimetableError
from tramline.network import Network
from tramline.planner import Planner
from tramline.reader import read_network
from tramline.service import parse_date
from tramline.text import journey_lines, stop_lines, table_lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0; 1 when something is wrong; 2 when there is no way."""
    arguments = _parser().parse_args(argv)
    try:
        network = read_network(Path(arguments.file).read_text(encoding="utf-8"))
        code: int = arguments.command(network, arguments)
    except (TimetableError, OSError) as error:
        print(f"tramline: {arguments.file}: {error}", file=sys.stderr)
        return 1
    return code


def _stops(network: Network, _arguments: argparse.Namespace) -> int:
    return _show(stop_lines(network))


def _table(network: Network, arguments: argparse.Namespace) -> int:
    return _show(table_lines(network, arguments.line))


def _plan(network: Network, arguments: argparse.Namespace) -> int:
    journey = Planner(network, arguments.on).earliest(arguments.origin, arguments.target, arguments.at)
    if journey is None:
        print(f"no way from {arguments.origin} to {arguments.target}")
        return 2
    return _show(journey_lines(network, journey))


def _show(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tramline", description="Timetables, and the way through them.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add(commands, "stops", _stops, "all stops")
    _add(commands, "table", _table, "the timetable of a line").add_argument("line")
    plan = _add(commands, "plan", _plan, "the way that arrives first")
    plan.add_argument("origin", help="code of the stop where you are")
    plan.add_argument("target", help="code of the stop you want to get to")
    _add_moment(plan)
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    command: Callable[[Network, argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text)
    parser.set_defaults(command=command)
    parser.add_argument("file")
    return parser


def _add_moment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--on", type=_argument(parse_date), required=True, metavar="DATE", help="as 2026-03-02")
    parser.add_argument("--at", type=_argument(parse_time), required=True, metavar="TIME", help="as 07:05")


def _argument[T: (int, dt.date)](parse: Callable[[str], T]) -> Callable[[str], T]:
    """The same reader, with its complaints in the form that argparse shows."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except TimetableError as error:
            raise argparse.ArgumentTypeError(error.message) from None

    return read
