"""A folder outside of the dataset, taken only as the tree that its task was made for, and kept from then on."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dulwich.objects import Blob

from akbench.dataset.directory import read_directory
from akbench.dataset.gather import Gathered
from akbench.dataset.objects import move_into_place, write_objects
from akbench.dataset.tree import Tree, read_tree
from akbench.spec import InputError

__all__ = ["read_local"]


def read_local(folder: Path, tree_id: str, cache: Path) -> Gathered:
    """The tree `tree_id` (git's id) that lies in `folder`, kept at ``cache/sources/<tree id>``.

    Once it is kept, the folder may change or go. Raises `InputError` when it is not kept and the folder is another.
    """
    place = cache / "sources" / tree_id
    if place.is_dir():
        return Gathered(tree=read_tree(place, tree_id), oddities=())
    gathered = read_directory(folder)
    found = gathered.tree.id
    if found != tree_id:
        raise InputError(
            f"the tree of {folder} is {found}, not {tree_id}; put the folder back as it was, or write "
            f"tree: {found} to take it as it is now"
        )
    _keep(gathered.tree, place)
    return gathered


def _keep(tree: Tree, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    _, folders = tree.folders
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as making:
        draft = Path(making) / "objects"
        blobs = (Blob.from_string(content) for _, content in tree.contents())
        write_objects(draft, (*(folders[each] for each in folders), *blobs))
        move_into_place(draft, place)
