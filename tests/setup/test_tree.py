import pytest

from agent_sync.errors import BadConfig, WrongState
from agent_sync.setup.install import carry_out
from agent_sync.setup.install.plan import FileChange, InstallPlan
from agent_sync.setup.install.shown import diff, verb
from agent_sync.setup.install.tree import Tree


def test_files_are_made_and_deleted(tmp_path):
    """Directories come with the first file and go with the last one; a mode is kept."""
    tree = Tree(tmp_path)
    tree.write(".claude/commands/x.md", b"x")
    (tmp_path / ".claude/commands/x.md").chmod(0o600)
    tree.write(".claude/commands/x.md", b"y")
    assert tree.read(".claude/commands/x.md") == b"y"
    assert (tmp_path / ".claude/commands/x.md").stat().st_mode & 0o777 == 0o600
    tree.delete(".claude/commands/x.md")
    assert list(tmp_path.iterdir()) == []
    assert tree.read("none") is None


def test_links_are_refused(tmp_path):
    """Nothing is read or written through a link, neither the file nor a directory above it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / ".gitignore").symlink_to(outside / "x")
    (root / ".claude").symlink_to(outside)
    for path in (".gitignore", ".claude/settings.json"):
        with pytest.raises(BadConfig, match=r"symbolic link\. Nothing was written"):
            Tree(root).read(path)
    assert list(outside.iterdir()) == []


def test_file_changed_meanwhile_stops_everything(tmp_path):
    """A file that is not what the diff showed is not overwritten, and no other is written either."""
    plan = InstallPlan((FileChange("a", None, b"a"), FileChange("b", b"old", b"new")))
    (tmp_path / "b").write_bytes(b"edited")
    with pytest.raises(WrongState, match="b was changed meanwhile"):
        carry_out.install(Tree(tmp_path), tmp_path / "state", plan)
    assert not (tmp_path / "a").exists()


def test_changes_are_shown_as_diffs():
    """A diff says what git would say, and nothing in a file steers the terminal."""
    change = FileChange("x", b"a\nb", b"a\n\x1b[31mb\n")
    assert diff(change) == [
        "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file", "+\ufffd[31mb",
    ]  # fmt: skip
    assert diff(FileChange("x", None, b"a\n"))[:2] == ["--- /dev/null", "+++ b/x"]
    assert [verb(FileChange("x", *pair)) for pair in ((None, b""), (b"", b"x"), (b"", None))] == [
        "create", "change", "delete",
    ]  # fmt: skip
