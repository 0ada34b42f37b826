import base64
import statistics
import time

import pytest
from support.prove import PROVE

from agent_sync.emulator.graphql.connections import cursor, page
from agent_sync.emulator.scenarios import build

ISSUES = """query($first: Int, $last: Int, $after: String, $before: String) {
  repository(owner: "octo", name: "demo") {
    issues(first: $first, last: $last, after: $after, before: $before) {
      nodes { number } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount
    }
  }
}"""

REFUSED = {
    "neither": (
        {},
        "You must provide a `first` or `last` value to properly paginate the `issues` connection.",
    ),
    "both": (
        {"first": 1, "last": 1},
        "Passing both `first` and `last` to paginate the `issues` connection is not supported.",
    ),
    "too many": (
        {"first": 101},
        "Requesting 101 records on the `issues` connection exceeds the `first` limit of 100 records.",
    ),
    "too many last": (
        {"last": 1000},
        "Requesting 1000 records on the `issues` connection exceeds the `last` limit of 100 records.",
    ),
    "none": ({"first": 0}, "`first` on the `issues` connection cannot be less than one."),
    "negative": ({"last": -1}, "`last` on the `issues` connection cannot be less than one."),
    "cursor": ({"first": 1, "after": "nonsense"}, "`nonsense` does not appear to be a valid cursor."),
}


def numbers(answer):
    return [node["number"] for node in answer["repository"]["issues"]["nodes"]]


@pytest.mark.parametrize(("bounds", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_pages_github_would_refuse(context, bounds, message):
    """A page out of bounds is refused with a path and GitHub's kind of sentence, its parent null."""
    answer = context.answer(ISSUES, **bounds)
    assert answer["data"] == {"repository": None}
    assert answer["errors"][0]["message"] == message
    assert answer["errors"][0]["path"] == ["repository", "issues"]


def test_counts_need_no_bounds(context):
    """A connection asked only for its count needs no page."""
    data = context.data('{ repository(owner: "octo", name: "demo") { issues { totalCount } } }')
    assert data["repository"]["issues"]["totalCount"] == 5


def test_a_board_may_be_asked_for_no_items(context):
    """The real command line asks a board for zero items to learn their number."""
    data = context.data(
        '{ user(login: "octo") { projectV2(number: 1) { items(first: 0) { totalCount nodes { id } } } } }'
    )
    assert data["user"]["projectV2"]["items"] == {"totalCount": 5, "nodes": []}


def test_forward_and_backward(context):
    """Pages follow each other in both directions, and say where they are."""
    first = context.data(ISSUES, first=2)
    info = first["repository"]["issues"]["pageInfo"]
    assert (numbers(first), info["hasNextPage"], info["hasPreviousPage"]) == ([40, 41], True, False)
    second = context.data(ISSUES, first=2, after=info["endCursor"])
    assert numbers(second) == [42, 43]
    last = context.data(ISSUES, last=2)
    assert numbers(last) == [43, 44]
    before = context.data(ISSUES, last=2, before=last["repository"]["issues"]["pageInfo"]["startCursor"])
    assert numbers(before) == [41, 42]


def test_a_cursor_survives_removal(context):
    """The next page starts after the record a cursor names, wherever that has moved to."""
    query = """query($after: String) { user(login: "octo") { projectV2(number: 1) {
      items(first: 2, after: $after) {
        pageInfo { endCursor } nodes { content { ... on Issue { number } } } } } } }"""

    def contents(answer):
        return [node["content"]["number"] for node in answer["user"]["projectV2"]["items"]["nodes"]]

    first = context.data(query)
    after = first["user"]["projectV2"]["items"]["pageInfo"]["endCursor"]
    context.act("remove_item", issue=40)
    assert contents(context.data(query, after=after)) == [42, 43]
    context.act("remove_item", issue=41)
    assert contents(context.data(query, after=after)) == [43, 44]


def test_a_foreign_cursor_is_refused(context):
    """Something that decodes but is no cursor of ours is refused too."""
    pointer = base64.b64encode(b"cursor:v1:3:x").decode()
    assert "valid cursor" in context.error(ISSUES, first=1, after=pointer)["message"]


def test_records_without_ids_page_by_place():
    """A list of plain values is cut by place."""
    assert list(page("abcdef", {"first": 2, "after": cursor(1, "b")}).nodes) == ["c", "d"]


def test_ten_thousand_items(tmp_path, context):
    """Every page of a board of 10,000 items holds what the one before did not, and the last ones cost what the first do."""
    context.world = build("large", tmp_path / "large")
    items = list(context.world.project("octo", 1).items.values())
    count = 20 if PROVE else 6
    first = (0, range(100 if PROVE else 1 + count))
    last = (10_000 - 100 * count, range(count))
    spent = []
    for begin, pages in (first, last):
        after = cursor(begin - 1, items[begin - 1]) if begin else None
        for number in pages:
            start = time.perf_counter()
            answer = context.document("SummaryPage", owner="octo", project=1, after=after)
            spent.append(time.perf_counter() - start)
            found = answer["repositoryOwner"]["projectV2"]["items"]
            at = begin + 100 * number
            assert [node["id"] for node in found["nodes"]] == [item.id for item in items[at : at + 100]]
            assert found["pageInfo"]["hasNextPage"] is (at + 100 < 10_000)
            after = found["pageInfo"]["endCursor"]
    assert len(items) == 10_000
    assert statistics.median(spent[-count:]) < 5 * statistics.median(spent[1 : 1 + count])
