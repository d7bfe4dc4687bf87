from __future__ import annotations

import pytest

from akbench.spec import InputError
from akbench.workspace.patch import apply_patch, difference
from akbench.workspace.snapshot import take_snapshot


def test_a_patch_leads_from_one_tree_to_the_other(tree, solved, snapshot, tmp_path):
    other = take_snapshot(solved, tmp_path / "other")
    (other.objects / "info/alternates").write_text(f"{snapshot.objects}\n")
    patch = difference(other.repository, tree.id, solved.id)
    assert b"+    return xs[:n]  # the-secret-solution\n" in patch
    assert apply_patch(snapshot, patch, tmp_path / "patched.git") == solved


def test_an_empty_patch_changes_nothing(tree, snapshot, tmp_path):
    assert apply_patch(snapshot, b"", tmp_path / "patched.git") == tree


@pytest.mark.parametrize("patch", [b"no patch", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"])
def test_a_patch_that_does_not_fit_is_refused_with_gits_words(snapshot, tmp_path, patch):
    with pytest.raises(InputError, match=r"the patch does not apply: .*(No valid patches|No such file|does not exist)"):
        apply_patch(snapshot, patch, tmp_path / "patched.git")


@pytest.mark.parametrize("path", ["../x", ".git/config"])
def test_a_patch_cannot_reach_out_of_the_tree(snapshot, tmp_path, path):
    patch = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(InputError, match="does not apply"):
        apply_patch(snapshot, patch.encode(), tmp_path / "patched.git")
