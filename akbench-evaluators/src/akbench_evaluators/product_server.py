"""The process in which the product's code runs: calls functions as it is told, line by line, and answers in JSON.

It knows nothing of the check. Whatever the product does in here reaches the check only as an answer to a question.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import traceback
from typing import IO, Any

__all__ = ["serve"]

_LONGEST_TRACE = 4_000


def serve() -> None:
    """Answer until there are no more questions; what the product prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # the process is ended without a farewell
    questions = os.fdopen(os.dup(0), encoding="ascii")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for line in questions:
        _answer(json.loads(line), answers)


def _answer(question: dict[str, Any], answers: IO[str]) -> None:
    try:
        module, _, path = question["target"].partition(":")
        function: Any = importlib.import_module(module)
        for name in path.split("."):
            function = getattr(function, name)
        value = function(*question["args"], **question["kwargs"])
        said = json.dumps({"id": question["id"], "value": value})
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the product raises is its answer
        trace = traceback.format_exc()[-_LONGEST_TRACE:]
        said = json.dumps({"id": question["id"], "error": type(error).__name__, "text": str(error), "trace": trace})
    answers.write(f"{said}\n")
    answers.flush()


if __name__ == "__main__":
    serve()
