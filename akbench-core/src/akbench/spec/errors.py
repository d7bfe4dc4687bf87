"""The errors of AK-Bench, named for who must act on them."""

from __future__ import annotations

__all__ = ["AkbenchError", "ExtensionError", "HostError", "InputError", "PlanRejectedError"]


class AkbenchError(Exception):
    """Root of every error that AK-Bench raises on purpose. The message is written for the person who must act."""

    exit_code: int = 1


class InputError(AkbenchError):
    """A file or an argument of the user is wrong; the message names the place and the mend.

    `place` is ``file:line:column`` (or a shorter form when no line is known).
    """

    exit_code = 2

    def __init__(self, message: str, *, place: str | None = None) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message


class PlanRejectedError(InputError):
    """An experiment that reads well cannot be run as asked, for instance for a missing capability."""


class ExtensionError(AkbenchError):
    """An installed extension is broken; the message names its distribution and the cause."""

    exit_code = 3


class HostError(AkbenchError):
    """This machine lacks something: a program, a permission, disk space, network."""

    exit_code = 3
