import pytest

from agent_sync.setup.install.edits import Edit, undone
from agent_sync.setup.install.record import KEPT, NAME, InstallRecord, Written, digest, forget, load, save


def written(path="a", content=b"new", before=None):
    return Written(path, before, digest(content), (Edit(0, "n"), Edit(1, "ew")))


def test_record_comes_back(tmp_path):
    """What was saved is loaded, and found by a file's path and content."""
    record = InstallRecord().with_entries((written(), written("b")))
    save(tmp_path / "state", record)
    assert load(tmp_path / "state") == record
    assert record.of("b", b"new") == written("b")
    assert record.of("b", b"edited") is None
    forget(tmp_path / "state")
    assert load(tmp_path / "state") == InstallRecord()


def test_newest_entry_counts():
    """Of two entries about the same content the newer one stays, and old ones go in the end."""
    record = InstallRecord().with_entries((written(),)).with_entries((written(before="x"),))
    assert record.entries == (written(before="x"),)
    many = record.with_entries(tuple(written(content=bytes(str(n), "ascii")) for n in range(KEPT)))
    assert len(many.entries) == KEPT


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": 3}', '{"files": [{}]}', '{"files": ["x"]}'])
def test_unusable_record_is_none(tmp_path, content):
    """A record that cannot be read is as good as none."""
    (tmp_path / NAME).write_text(content)
    assert load(tmp_path) == InstallRecord()


def test_undoing_something_else_is_refused():
    """Edits are taken out only of the text they made."""
    with pytest.raises(ValueError, match="not what the edits made"):
        undone("abc", [Edit(0, "x")])
