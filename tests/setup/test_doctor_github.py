from datetime import timedelta

import pytest
from support.claims import NOW

from agent_sync.settings.tables import BoardSettings
from agent_sync.setup.doctor.github import check_clock, check_scopes
from agent_sync.setup.doctor.names import check_names
from agent_sync.setup.doctor.result import Mark
from agent_sync.task.decision.tasks import BoardField, BoardShape, Person

STATUS = BoardField("Status", "SINGLE_SELECT", ("Todo", "In Progress", "In Review", "Done"))
AGENT, PRIORITY = BoardField("Agent", "TEXT"), BoardField("Priority", "SINGLE_SELECT", ("P0",))


@pytest.mark.parametrize(
    ("scopes", "mark"),
    [
        (("repo", "project"), Mark.OK),
        (("public_repo", "project"), Mark.OK),
        (("repo", "read:project"), Mark.FAIL),
        ((), Mark.FAIL),
        (None, Mark.SKIP),
    ],
)
def test_scopes(scopes, mark):
    """Both scopes are needed; tokens that do not tell theirs are passed over."""
    assert check_scopes(Person("octo", "U", scopes)).mark is mark


@pytest.mark.parametrize(
    ("seconds", "mark", "says"),
    [
        (0, Mark.OK, "agrees"),
        (-29, Mark.OK, "agrees"),
        (31, Mark.WARN, "31 s ahead of GitHub"),
        (-600, Mark.WARN, "600 s behind GitHub"),
    ],
)
def test_clock(seconds, mark, says):
    """A clock that is off by more than half a minute is named."""
    result = check_clock(NOW, NOW + timedelta(seconds=seconds))
    assert (result.mark, says in result.says) == (mark, True)
    assert check_clock(None, NOW).mark is Mark.SKIP


def marks(*fields, **names):
    board = BoardShape("octo", 1, "BoardSettings", "", fields)
    return {result.name: result for result in check_names(board, BoardSettings(**names))}


def test_names_that_fit():
    """A board with every name passes, whatever the case."""
    found = marks(STATUS, AGENT, PRIORITY, ready="TODO", agent_field="agent", in_review="")
    assert [result.mark for result in found.values()] == [Mark.OK] * 3


def test_names_that_do_not_fit():
    """A wrong name is answered with the board's own."""
    found = marks(STATUS, in_review="Reviewing")
    says = "not on the board: Reviewing; it has: Todo, In Progress, In Review, Done"
    assert found["statuses"].says == f"{says}; the card stays where it is"
    assert (found["statuses"].mark, "set board.in_review" in found["statuses"].fix) == (Mark.WARN, True)
    lost = marks(STATUS, ready="Up next")["statuses"]
    assert (lost.mark, "set board.ready" in lost.fix) == (Mark.FAIL, True)
    assert (found["agent field"].mark, found["priority field"].mark) == (Mark.WARN, Mark.WARN)
    assert "it has: Status" in found["priority field"].says
    assert "the board has: Priority" in marks(PRIORITY)["status field"].says
