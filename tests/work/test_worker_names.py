"""Names of workers and tasks."""

import pytest

from agent_sync.errors import BadInput
from agent_sync.work.hook.names import WorkerName, exact_name, issue_of, task_id, worker_named, worker_of_ref

FLEET = (WorkerName("main", "w1"), WorkerName("docs", "w1"), WorkerName("docs", "w2"))


@pytest.mark.parametrize(
    ("text", "existing", "wanted"),
    [
        pytest.param("docs/w2", FLEET, "docs/w2", id="written out"),
        pytest.param("w2", FLEET, "docs/w2", id="bare and unique"),
        pytest.param("w9", FLEET, "main/w9", id="bare and new"),
        pytest.param("docs/w9", FLEET, "docs/w9", id="new in a pool"),
        pytest.param("a", (), "main/a", id="no worker yet"),
    ],
)
def test_which_worker_is_meant(text, existing, wanted):
    """A bare name means the one worker that has it, or a new one of the default pool."""
    assert str(worker_named(text, existing)) == wanted


def test_bare_name_of_several_is_refused():
    """A bare name that two pools have is never guessed at; the message lists them."""
    with pytest.raises(BadInput, match=r"docs/w1, main/w1"):
        worker_named("w1", FLEET)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "a/",
        "/a",
        "a/b/c",
        "A",
        "-a",
        ".a",
        "a b",
        "a..b",
        "a.lock",
        "a.",
        "ä",
        "a" * 51,
        "a\n",
        "../x",
        "a/..",
    ],
)
def test_odd_names_are_refused(text):
    """What git or a path could read as something else is no name."""
    with pytest.raises(BadInput, match="is not a worker's name"):
        exact_name(text)


@pytest.mark.parametrize(
    ("ref", "wanted"),
    [
        ("refs/agentsync/hooks/main/w1", WorkerName("main", "w1")),
        ("refs/agentsync/hooks/main", None),
        ("refs/agentsync/hooks/main/w1/deep", None),
        ("refs/agentsync/claims/42", None),
        ("refs/agentsync/hooks/Main/w1", None),
    ],
)
def test_only_hook_refs_name_workers(ref, wanted):
    """A ref that is no hook is passed over."""
    assert worker_of_ref(ref) == wanted


@pytest.mark.parametrize(("parent", "name"), [(None, "issue-42"), (7, "convoy-7.42")])
def test_task_is_named_after_its_issue(parent, name):
    """A task carries its issue's number, and its convoy's."""
    assert (task_id(42, parent), issue_of(name)) == (name, 42)
    assert issue_of("something else") is None
