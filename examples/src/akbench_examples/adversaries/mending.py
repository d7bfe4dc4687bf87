"""What the honest agents know: how the fault of the task is mended."""

from pathlib import Path

_SOLVED = '''\
"""Whole cents, shared out."""


def split(total: int, people: int) -> list[int]:
    """Share `total` cents out among `people`; the parts differ by at most one cent, the larger ones come first."""
    if people < 1:
        raise ValueError("somebody has to pay")
    share, rest = divmod(total, people)
    return [share + (place < rest) for place in range(people)]
'''


def mend(path: str = "ledger/__init__.py") -> None:
    """Write the solved module to `path` of the workspace."""
    Path(path).write_text(_SOLVED, encoding="utf-8")
