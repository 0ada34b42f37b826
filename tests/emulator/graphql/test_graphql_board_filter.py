from datetime import date

import pytest

from agent_sync.emulator.graphql.board_filter import Term, terms
from agent_sync.emulator.graphql.comparisons import comparison
from agent_sync.emulator.operations import boards
from agent_sync.emulator.operations.changes import NewValue
from agent_sync.emulator.world.boards import FieldType, Iteration

ITEMS = """query($query: String) { user(login: "octo") { projectV2(number: 1) {
  items(first: 50, query: $query) { nodes { content { ... on Issue { number } } } } } } }"""

SPRINT = Iteration("a1b2c3d4", "Sprint 1", date(2026, 1, 5), 14)

FILTERS = {
    "nothing": ("", [40, 41, 42, 43, 44]),
    "option in quotes": ('status:"In Progress"', [40]),
    "option in any case": ("STATUS:todo", [41, 42, 43]),
    "negated": ("-status:Done", [40, 41, 42, 43]),
    "comma list": ('status:"In Progress",Done', [40, 44]),
    "two priorities": ("priority:P1,P2", [42, 43]),
    "negated list": ("-priority:P1,P2", [40, 41, 44]),
    "empty field": ("no:priority", [40, 41, 44]),
    "filled field": ("has:priority", [42, 43]),
    "not empty": ("-no:priority", [42, 43]),
    "no status": ("no:status", []),
    "open": ("is:open", [40, 41, 42, 43]),
    "closed": ("is:closed", [44]),
    "issues": ("is:issue is:open status:Todo", [41, 42, 43]),
    "pull requests": ("is:pr", []),
    "merged": ("is:merged", []),
    "assignee": ("assignee:mona", [40]),
    "oneself": ("assignee:@me", []),
    "no assignee": ("no:assignee is:open", [41, 42, 43]),
    "text field": ("agent:claude-1", [42]),
    "text with a star": ("agent:claude-*", [42]),
    "other text": ("agent:claude", []),
    "words of the title": ("cache race", [42]),
    "phrase of the title": ('"race condition"', [42]),
    "negated word": ("-cache", [40, 41, 44]),
    "title": ('title:"Set up*"', [44]),
    "label": ("label:bug", [43]),
    "repository": ("repo:octo/demo", [40, 41, 42, 43, 44]),
    "reason": ("reason:completed", [44]),
    "number": ("points:>3", [42]),
    "range": ("points:1..3", [43]),
    "day": ("due:<=2026-01-31", [42]),
    "field with a space": ("target-area:core", [41]),
    "unknown field": ("colour:red", []),
    "unknown state": ("is:lost", []),
    "iteration": ('sprint:"Sprint 1"', [40]),
}


@pytest.fixture
def board(context):
    """Return the small board with a field of every type."""
    world, octo, project = context.world, context.world.viewer("any"), context.world.project("octo", 1)

    def field(name, kind, **more):
        return boards.add_field(world, project, name, kind, **more)

    def put(issue, entry, /, **value):
        boards.set_value(world, octo, context.issue(issue).items[0], entry, value=NewValue(**value))

    points, due, area = (
        field("Points", FieldType.NUMBER),
        field("Due", FieldType.DATE),
        field("Target area", FieldType.TEXT),
    )
    put(42, project.field_named("Agent"), text="claude-1")
    put(42, points, number=5)
    put(43, points, number=2)
    put(42, due, day=date(2026, 1, 15))
    put(41, area, text="core")
    put(40, field("Sprint", FieldType.ITERATION, iterations=[SPRINT]), iteration_id=SPRINT.id)
    context.issue(43).labels.append(context.issue(43).repository.labels["bug"])
    return context


@pytest.mark.parametrize(("query", "expected"), FILTERS.values(), ids=FILTERS.keys())
def test_filter(board, query, expected):
    """The board's filter keeps the cards GitHub's would."""
    nodes = board.data(ITEMS, query=query)["user"]["projectV2"]["items"]["nodes"]
    assert [node["content"]["number"] for node in nodes] == expected


def test_terms():
    """A filter is read into terms, quotes and commas understood."""
    assert terms('-status:"In Progress",Done free "two words"') == [
        Term("status", ("in progress", "done"), negated=True),
        Term(None, ("free",), negated=False),
        Term(None, ("two words",), negated=False),
    ]


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("3", "3.0", True),
        (">3", "3", False),
        (">=3", "3", True),
        ("<3", "2.5", True),
        ("*..3", "2", True),
        ("3..*", "2", False),
        ("2026-01-01..2026-02-01", "2026-01-15", True),
        ("=<3", "1", False),
    ],
)
def test_comparison(text, value, fits):
    """Numbers and days are compared with signs and ranges."""
    assert comparison(text)(value) is fits
