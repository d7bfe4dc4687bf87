"""Removal of folders that an agent has written into, whatever it left there."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

__all__ = ["remove_tree"]


def remove_tree(root: Path) -> None:
    """Remove the folder `root` with everything in it; links are removed, not followed.

    Folders may be nested so deeply that `shutil.rmtree` ends in a RecursionError and no path reaches the innermost,
    and may be closed to their own owner. What it leaves is then removed folder by folder.
    """
    try:
        shutil.rmtree(root)
    except (RecursionError, OSError):
        _remove_flattened(root)


def _remove_flattened(root: Path) -> None:
    """Open each folder up and move it to the top before it is looked into, so that depth does not matter."""
    token = secrets.token_hex(8)
    waiting = [root]
    moved = 0
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as items:
            for item in list(items):
                if not item.is_dir(follow_symlinks=False):
                    Path(item.path).unlink()
                    continue
                moved += 1
                Path(item.path).chmod(0o700)
                waiting.append(Path(item.path).rename(root / f"{token}-{moved}"))
        if folder != root:
            folder.rmdir()
    root.rmdir()
