"""What lies among a run's gradings and is none stops nobody from grading it again."""

from __future__ import annotations

from pathlib import Path

from akbench.run.grading import GRADINGS, clear_drafts, grading_folders


def test_only_names_that_the_harness_gives_are_gradings(tmp_path: Path):
    for name in ("0002", "0001", "0010", ".making-x", "\u00b2", "\u0661", "notes"):
        (tmp_path / GRADINGS / name).mkdir(parents=True)
    assert [path.name for path in grading_folders(tmp_path)] == ["0001", "0002", "0010"]


def test_drafts_of_any_kind_are_removed_and_no_link_is_followed(tmp_path: Path):
    folder, kept = tmp_path / GRADINGS, tmp_path / "kept"
    (folder / ".making-folder").mkdir(parents=True)
    (folder / ".making-folder" / "evaluation.json").touch()
    (folder / ".making-file").touch()
    kept.mkdir()
    (folder / ".making-link").symlink_to(kept)
    (folder / "0001").mkdir()
    clear_drafts(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["0001"]
    assert kept.is_dir()
