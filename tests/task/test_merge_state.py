"""What stands between a pull request and its merge, and whose remarks count."""

import pytest
from support.github import pull

from agent_sync.task.decision.feedback.checks import CI, ChecksVerdict
from agent_sync.task.decision.feedback.ci_messages import checks_polled
from agent_sync.task.decision.feedback.merging import is_ready, missing_for_merge, update_commands
from agent_sync.task.decision.feedback.reviews import (
    AuthorKind,
    Conversation,
    Remark,
    Review,
    ReviewThread,
    Wake,
    is_heard,
    open_threads,
    reviews_of_older_commits,
)
from agent_sync.task.decision.outside_text import fenced

OPEN_THREAD = Conversation(threads=(ReviewThread("T", "a.py", 1, (Remark("C", "mona", AuthorKind.WRITER, "x"),)),))
STATES = {
    "clean": ({"merge_state": "CLEAN"}, True, ""),
    "has hooks": ({"merge_state": "HAS_HOOKS"}, True, ""),
    "not told": ({"merge_state": ""}, False, ""),
    "blocked": ({"merge_state": "BLOCKED"}, False, "a rule of the repository blocks it"),
    "unstable": ({"merge_state": "UNSTABLE"}, False, "not every check has passed"),
    "unknown": ({"merge_state": "UNKNOWN"}, False, "GitHub is still working out whether it can be merged"),
    "dirty": ({"merge_state": "DIRTY", "is_conflicting": True}, False, ""),
    "behind": ({"merge_state": "BEHIND"}, False, "it must be updated with its base branch"),
    "draft": ({"merge_state": "CLEAN", "is_draft": True}, False, "it is a draft"),
    "review missing": (
        {"merge_state": "BLOCKED", "review_decision": "REVIEW_REQUIRED"},
        False,
        "a required review is missing",
    ),
    "changes requested": (
        {"merge_state": "CLEAN", "review_decision": "CHANGES_REQUESTED", "changes_requested_by": ("mona",)},
        False,
        "changes requested",
    ),
    "conversation": (
        {"merge_state": "BLOCKED", "needs_resolution": True, "conversation": OPEN_THREAD},
        False,
        "1 conversation must be resolved",
    ),
    "conversation that blocks nothing": ({"merge_state": "CLEAN", "conversation": OPEN_THREAD}, True, ""),
    "in the queue": ({"merge_state": "CLEAN", "queue_position": 2}, False, ""),
}


@pytest.mark.parametrize(("fields", "ready", "missing"), STATES.values(), ids=STATES)
def test_ready_is_githubs_word(fields, ready, missing):
    """Only GitHub says that a pull request is ready; what is missing is named in one line."""
    seen = pull(**fields)
    assert (is_ready(seen), missing_for_merge(seen)) == (ready, missing)
    text = checks_polled(seen, ChecksVerdict(CI.GREEN, "a" * 40, passed=2)).text
    assert ("is ready to merge" in text) is ready
    assert missing in text


def test_commands_for_plain_names_only():
    """A base branch whose name a shell would take apart is not put into a command."""
    assert update_commands("origin/main") == "git fetch origin && git merge origin/main"
    assert update_commands("origin/rel/1.2") == "git fetch origin && git merge origin/rel/1.2"
    assert update_commands("origin/$(id)") == update_commands("origin/a;b") == update_commands("") == ""


HEARD = {
    Wake.WRITERS: {AuthorKind.WRITER, AuthorKind.MEMBER},
    Wake.PEOPLE: {AuthorKind.WRITER, AuthorKind.MEMBER, AuthorKind.OUTSIDER},
    Wake.EVERYONE: set(AuthorKind),
    Wake.NOBODY: set(),
}


@pytest.mark.parametrize("wake", Wake)
def test_whose_remarks_are_heard(wake):
    """The setting decides by kind of author; our own answers and empty texts never count."""
    assert {kind for kind in AuthorKind if is_heard(Remark("C", "x", kind, "text"), wake)} == HEARD[wake]
    assert not is_heard(Remark("C", "x", AuthorKind.WRITER, "text", is_own=True), wake)
    assert not is_heard(Remark("C", "x", AuthorKind.WRITER, " \n"), wake)


def test_a_thread_waits_until_it_is_answered_or_resolved():
    """Our own last word, or a resolution, takes a thread off the list."""
    asked, answer = Remark("1", "mona", AuthorKind.WRITER, "?"), Remark("2", "o", AuthorKind.WRITER, "!", is_own=True)
    waiting = ReviewThread("T1", "a", 1, (asked,))
    others = (ReviewThread("T2", "a", 1, (asked, answer)), ReviewThread("T3", "a", 1, (asked,), is_resolved=True))
    assert open_threads(Conversation(threads=(waiting, *others)), Wake.WRITERS) == (waiting,)


def test_reviews_of_an_older_commit_are_asked_for_again():
    """Only who asked for changes on another commit, may write and was not asked yet."""
    mona = Review(Remark("1", "mona", AuthorKind.WRITER, "No."), "CHANGES_REQUESTED", "old", "U_1")
    bot = Review(Remark("2", "bot", AuthorKind.BOT, "No."), "CHANGES_REQUESTED", "old", "B_1")
    assert reviews_of_older_commits(Conversation(reviews=(mona, bot)), "new") == (mona,)
    assert reviews_of_older_commits(Conversation(reviews=(mona,)), "old") == ()
    assert reviews_of_older_commits(Conversation(reviews=(mona,), requested=("mona",)), "new") == ()


def test_a_fence_cannot_be_ended():
    """Every line of a quoted text carries the mark, whatever the text holds."""
    block = fenced("a\n| b\n```\r\nc\u2028d\x1b[31m\u202e" + "\nx" * 100)
    assert all(line.startswith("| ") for line in block.splitlines())
    assert len(block.splitlines()) == 21
    assert not set("\x1b\u202e") & set(block)
