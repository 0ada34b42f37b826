import tomllib

import pytest

from agent_sync import settings
from agent_sync.settings.tables import BoardSettings, ProjectSettings
from agent_sync.setup.install.detect import names_on
from agent_sync.setup.install.signature import is_unchanged
from agent_sync.setup.install.starter import Findings, starter
from agent_sync.task.decision.tasks import BoardField, BoardShape
from agent_sync.worktree import Place

STATUS = BoardField("Status", "SINGLE_SELECT", ("Todo", "In Progress", "In Review", "Done"))
AGENT = BoardField("Agent", "TEXT")
PRIORITY = BoardField("Priority", "SINGLE_SELECT", ("P0",))


def board(*fields, title="Tasks", number=7):
    return BoardShape("octo", number, title, "https://github.com/users/octo/projects/7", fields)


def loaded(text, tmp_path):
    (tmp_path / ".agent-sync.toml").write_text(text)
    found = settings.load(Place(str(tmp_path), str(tmp_path / ".git"), str(tmp_path / ".git")), {})
    # Whoever runs init is asked nothing more: all of it is the repository's to decide.
    assert found.held_back == ()
    return found.settings


def test_found_board_is_written(tmp_path):
    """A board with the usual names gives a file that can be used at once."""
    text = starter(Findings("octo", board(STATUS, AGENT, PRIORITY)))
    found = loaded(text, tmp_path)
    assert (found.project.owner, found.project.number) == ("octo", 7)
    assert found.board == BoardSettings()
    assert is_unchanged(text.encode())


def test_unknown_board_is_left_to_fill_in(tmp_path):
    """Without a board the file is valid, names the owner and lists what it could be."""
    text = starter(Findings("octo", None, (board(number=3, title="One"), board(number=4, title="Two"))))
    assert loaded(text, tmp_path).project == ProjectSettings(owner="octo")
    assert "# number = 1" in text
    assert "#   3: One (octo)\n#   4: Two (octo)" in text
    assert loaded(starter(Findings("")), tmp_path).project.owner == ""


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("To do", "Doing", "Review", "Closed"), {"ready": "To do", "in_progress": "Doing", "in_review": "Review"}),
        (("Backlog", "Ready", "IN PROGRESS", "Done"), {"ready": "Ready", "in_progress": "IN PROGRESS", "done": "Done"}),
    ],
)
def test_other_names_are_found(options, found):
    """Common other names of the statuses are recognised, whatever their case."""
    names = names_on(board(BoardField("Status", "SINGLE_SELECT", options)))
    assert found.items() <= names.found.items()


def test_what_is_missing_lists_what_there_is(tmp_path):
    """A status the board can do without is written empty, another name is left to fill in, with the board's own."""
    odd = BoardField("Status", "SINGLE_SELECT", ("Todo", "In Progress", "Done"))
    text = starter(Findings("octo", board(odd, AGENT)))
    stays = "the board has no such status, so the card stays"
    assert f'in_review = ""  # {stays}; it has: Todo, In Progress, Done' in text
    assert '# priority_field = "…"  # fill in; the board has: Status' in text
    assert loaded(text, tmp_path).board.in_review == ""
    late = BoardField("Status", "SINGLE_SELECT", ("Queue", "In Progress", "Done"))
    assert '# ready = "…"  # fill in; the board has: Queue, In Progress, Done' in starter(Findings("octo", board(late)))


def test_status_field_of_another_name():
    """The field whose choices sound like statuses is taken where none is called Status."""
    stage = BoardField("Stage", "SINGLE_SELECT", ("Todo", "Doing", "Done"))
    assert names_on(board(PRIORITY, stage)).found["status_field"] == "Stage"
    assert names_on(board(PRIORITY)).missing["status_field"] == ("Priority",)
    assert names_on(board()).missing["ready"] == ()


@pytest.mark.parametrize("name", ['a"b', "a\\b", "ä", "\x7f", "a\nb", '"""', "x\u2028y"])
def test_names_of_any_kind_survive(tmp_path, name):
    """Whatever the board calls its things, the file says exactly that, and a title cannot break out of its comment."""
    odd = BoardField("Status", "SINGLE_SELECT", ("Todo", "Doing"))
    shape = board(BoardField("agent", "TEXT"), odd, title=f"{name}\n[evil]\nx = 1")
    text = starter(Findings("octo", BoardShape(name, 7, shape.title, shape.url, shape.fields)))
    assert set(tomllib.loads(text)) == {"project", "board"}
    assert loaded(text, tmp_path).project.owner == name
