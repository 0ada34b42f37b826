from datetime import date

import pytest

from agent_sync.emulator.operations import boards
from agent_sync.emulator.operations.changes import NewValue
from agent_sync.emulator.scenarios import build
from agent_sync.emulator.state import snapshot
from agent_sync.emulator.world.boards import SETTABLE, FieldType, Iteration
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused

ITERATION = Iteration("11aa22bb", "Sprint 1", date(2026, 11, 16), 14)


class Board:
    """The demo board with one field of every settable type, and the card of issue 42."""

    def __init__(self, home):
        self.world = build("small", home)
        self.octo = Viewer(self.world.user("octo"))
        self.project = self.world.project("octo", 1)
        self.item = self.world.repository("octo", "demo").conversations[42].items[0]
        self.status = self.project.field_named("Status")
        self.agent = self.project.field_named("Agent")
        self.points = boards.add_field(self.world, self.project, "Points", FieldType.NUMBER)
        self.due = boards.add_field(self.world, self.project, "Due", FieldType.DATE)
        self.sprint = boards.add_field(self.world, self.project, "Sprint", FieldType.ITERATION, iterations=[ITERATION])

    def set(self, field, **value):
        """Set a field of the card."""
        boards.set_value(self.world, self.octo, self.item, field, value=NewValue(**value))

    def shown(self):
        """Return the fields of the card as the state shows them."""
        return next(entry["fields"] for entry in snapshot(self.world)["items"] if entry["issue"] == 42)


@pytest.fixture
def board(tmp_path):
    return Board(tmp_path)


def _refusal(call, *arguments, **more):
    with pytest.raises(Refused) as refused:
        call(*arguments, **more)
    return refused.value.kind, refused.value.message


def test_every_type_of_field_takes_its_value(board):
    """Text, number, date, single select and iteration fields hold what they are given."""
    board.set(board.agent, text="octo-1")
    board.set(board.points, number=0.0)
    board.set(board.due, day=date(2026, 12, 24))
    board.set(board.sprint, iteration_id=ITERATION.id)
    board.set(board.status, option_id=board.status.option("Done").id)
    assert board.shown() == {
        "Status": "Done", "Priority": "P1", "Agent": "octo-1", "Points": 0.0, "Due": "2026-12-24",
        "Sprint": "Sprint 1",
    }  # fmt: skip


def test_values_of_the_wrong_type_are_refused(board):
    """A field that gets another type's value says which one it needs."""
    wrong = {
        board.agent: ({"number": 1.0}, "text value to update a field of type text"),
        board.points: ({"text": "1"}, "number value to update a field of type number"),
        board.due: ({"text": "2026-12-24"}, "date value to update a field of type date"),
        board.status: (
            {"text": "Done"},
            "single select option Id value to update a field of type single_select",
        ),
        board.sprint: ({"text": "x"}, "iteration Id value to update a field of type iteration"),
    }
    for field, (value, words) in wrong.items():
        kind, message = _refusal(board.set, field, **value)
        assert (kind, words in message) == (Kind.VALIDATION, True), message


def test_ids_that_do_not_belong_to_the_field_are_refused(board):
    """An option of another field, an empty id and an unknown iteration are refused."""
    foreign = board.project.field_named("Priority").options[0].id
    refused = (Kind.VALIDATION, "The single select option Id does not belong to the field")
    assert _refusal(board.set, board.status, option_id=foreign) == refused
    assert _refusal(board.set, board.status, option_id="") == refused
    kind, message = _refusal(board.set, board.sprint, iteration_id="nope")
    assert (kind, message) == (Kind.VALIDATION, "The iteration Id does not belong to the field")


@pytest.mark.parametrize("kind", sorted(set(FieldType) - SETTABLE))
def test_fields_that_mirror_the_content_cannot_be_set(board, kind):
    """Fields that show the issue's own data refuse values."""
    field = next(entry for entry in board.project.fields if entry.type == kind)
    assert "not supported" in _refusal(board.set, field, text="x")[1]


def test_clearing_twice_is_fine(board):
    """A cleared field is empty, and clearing it again changes nothing."""
    boards.clear_value(board.world, board.octo, board.item, board.status)
    boards.clear_value(board.world, board.octo, board.item, board.status)
    assert board.shown() == {"Priority": "P1"}


def test_another_board_is_another_board(board):
    """An item or field of another project is not found in this one."""
    other = boards.create_project(board.world, board.octo.user, 2, "Other")
    text = boards.add_field(board.world, other, "Text", FieldType.TEXT)
    value = NewValue(text="x")
    act = (board.world, board.octo, board.item)
    missing_item = _refusal(boards.set_value, *act, text, value=value, project=other)
    missing_field = _refusal(boards.set_value, *act, text, value=value, project=board.project)
    assert missing_item == (Kind.NOT_FOUND, "The item does not exist in the project")
    assert missing_field == (Kind.NOT_FOUND, "The field does not exist in the project")


def test_drafts_are_cards_too(board):
    """A draft has a card without an issue, which can be moved and removed."""
    item = boards.add_draft(board.world, board.octo, board.project, title="Idea")
    option = board.status.option("Todo").id
    boards.set_value(board.world, board.octo, item, board.status, value=NewValue(option_id=option))
    assert snapshot(board.world)["items"][-1] == {
        "project": 1, "repo": None, "id": item.id, "issue": None, "archived": False, "fields": {"Status": "Todo"},
    }  # fmt: skip
    boards.remove_item(board.world, board.octo, item)
    assert len(snapshot(board.world)["items"]) == 5


def test_who_may_change_a_board(board):
    """Collaborators who may write may move cards; readers, weak tokens and tokens without scope may not."""
    board.world.repository("octo", "demo")
    mona = Viewer(board.world.user("mona"))
    guest = Viewer(board.world.add_user("guest"))
    clear = (board.item, board.agent)
    boards.clear_value(board.world, mona, *clear)
    assert _refusal(boards.clear_value, board.world, guest, *clear)[0] is Kind.FORBIDDEN
    weak = board.world.viewer("read-only")
    assert _refusal(boards.clear_value, board.world, weak, *clear)[0] is Kind.FORBIDDEN
    narrow = board.world.viewer("no-project-scope")
    assert _refusal(boards.clear_value, board.world, narrow, *clear)[0] is Kind.INSUFFICIENT_SCOPES
