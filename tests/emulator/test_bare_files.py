"""What the local GitHub reads and writes of a repository without git is what git says it is."""

import pytest

from agent_sync.emulator.persistence import open_world
from agent_sync.emulator.scenarios import FIRST_COMMIT_AT
from agent_sync.emulator.world.bare import Author, BareRepository

WHO = Author("Octo", "octo@example.invalid", "2026-01-01T00:00:00Z")


@pytest.fixture
def bare(tmp_path):
    """Make a bare repository with one commit on `main`."""
    repository = BareRepository(tmp_path / "octo" / "demo.git")
    repository.create("main")
    tree = repository.tree_with_file(None, "README.md", "# demo ü\n")
    repository.set_ref("refs/heads/main", repository.write_commit(tree, [], "Begin", author=WHO), old=None)
    return repository


def git_says(bare, prefix="refs/"):
    """Return the refs as git lists them."""
    lines = bare.run("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines]


def test_made_repository_is_sound(bare):
    """Git finds nothing wrong with it, and the file is what was written."""
    assert bare.run("fsck", "--strict", "--no-dangling") == ""
    assert bare.run("show", "main:README.md") == "# demo ü"
    assert bare.run("symbolic-ref", "HEAD") == "refs/heads/main"


@pytest.mark.parametrize("scenario", ["small", "team"])
def test_worlds_begin_with_the_same_commit(tmp_path, scenario):
    """Git finds nothing wrong with the first commits, which have the same author and moment at every start."""
    worlds = [open_world(tmp_path / name, scenario) for name in ("first", "second")]
    began = [{name: one.git for name, one in world.repositories.items()} for world in worlds]
    assert {name: git.refs() for name, git in began[0].items()} == {name: git.refs() for name, git in began[1].items()}
    for git in began[0].values():
        assert git.run("fsck", "--strict", "--no-dangling") == ""
        assert git.run("log", "--format=%at %ct %s", "main") == f"{FIRST_COMMIT_AT} {FIRST_COMMIT_AT} Initial commit"


def test_refs_are_what_git_lists(bare):
    """Loose and packed refs, moved, deleted and nested ones, in git's order."""
    first = bare.ref("refs/heads/main")
    second = bare.write_commit(bare.commit(first).tree, [first], "Second", author=WHO)
    for name in ("heads/a/b", "heads/a-b", "tags/v1", "agentsync/claims/42", "heads/gone"):
        bare.set_ref(f"refs/{name}", first, old=None)
    bare.run("tag", "-a", "-m", "x", "v2", extra={"GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x"})
    bare.run("pack-refs", "--all")
    bare.set_ref("refs/heads/a/b", second, old=first)
    bare.set_ref("refs/heads/gone", None, old=first)
    bare.set_ref("refs/heads/new", second, old=None)
    for prefix in ("refs/", "refs/heads/", "refs/agentsync/"):
        assert list(bare.refs(prefix).items()) == git_says(bare, prefix)
    for name in (
        "refs/heads/a/b",
        "refs/heads/gone",
        "refs/heads/a",
        "refs/tags/v2",
        "refs/heads/../heads/main",
        "main",
    ):
        known = dict(git_says(bare)).get(name)
        assert bare.ref(name) == known, name


def test_names_are_resolved_as_git_does(bare):
    """A branch comes before a tag of that name, a tag leads to its commit, and a short SHA is understood."""
    first = bare.ref("refs/heads/main")
    second = bare.write_commit(bare.commit(first).tree, [first], "Second", author=WHO)
    bare.set_ref("refs/heads/both", second, old=None)
    bare.set_ref("refs/tags/both", first, old=None)
    bare.set_ref("refs/tags/only", first, old=None)
    found = {name: bare.resolve(name) for name in ("both", "only", first[:10], "nothing")}
    assert found == {"both": second, "only": first, first[:10]: first, "nothing": None}
