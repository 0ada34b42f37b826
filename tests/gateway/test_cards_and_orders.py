"""Writing on the board: re-issued and renamed options, refusals, and what is put back."""

from dataclasses import replace

import pytest
from behaviour import MARKER, change_of, closure, order
from documented import answer, error, fields, issue, item

from agent_sync.errors import GitHubDown, MissingScope, NotFound, Refused
from agent_sync.task.decision.actions import CardChange, CloseTask
from agent_sync.task.decision.decide import card_change
from agent_sync.task.decision.facts import Card, NoCard
from agent_sync.task.decision.pull_text import without_digests

ODD_TITLES = [
    'Quotes " and \\ and `ticks`', "Lines\tand tabs", "Emoji 🦑 and flags 🏴‍☠️", "עברית and العربية", "zero\u200bwidth",
    "</script><b>html</b>", "$variables {braces} %s", "-rf --force", "\uff41\uff4c\uff4c wide",
    "e\u0301 combined", "x" * 240,
]  # fmt: skip


def test_a_refused_pull_leaves_the_card_where_it_was(local):
    """The card is moved together with the pull request, and moved back when that is refused."""
    local.push()
    local.act("set_field", issue=42, field="Agent", value="before")
    gateway = local.gateway()
    order_now = order(gateway)
    with pytest.raises(Refused, match="No commits between main and main"):
        gateway.open_pull(replace(order_now, branch="main"))
    assert local.card() == {"Status": "Todo", "Priority": "P1", "Agent": "before"}
    assert local.operations() == ["Lookup", "OpenPull", "MoveCard"]


def test_a_refused_pull_leaves_an_empty_card_empty(local):
    """A card that had neither Status nor Agent has neither again."""
    local.act("set_field", issue=42, field="Status", value=None)
    gateway = local.gateway()
    with pytest.raises(Refused):
        gateway.open_pull(order(gateway, branch="main"))
    assert local.card() == {"Priority": "P1"}


def test_a_card_that_could_not_be_moved_back_is_said(local):
    """A refused pull request whose card stays in review says so."""
    gateway = local.gateway()
    refused = order(gateway, branch="main")
    local.fault("drop_before", operation="MoveCard")
    with pytest.raises(Refused, match=r"No commits between.*The card could not be moved back"):
        gateway.open_pull(refused)


def test_a_reissued_option_is_looked_up_again(local):
    """Options whose ids were given anew cost one more look, and the card is moved all the same."""
    gateway = local.gateway()
    change = change_of(gateway)
    local.act("rename_option", field="Status", option="Done", to="Finished", reissue_ids=True)
    local.operations()
    gateway.move_card(change)
    assert local.operations() == ["MoveCard", "CardAgain", "MoveCard"]
    assert local.card()["Status"] == "In Review"


def test_a_renamed_option_is_refused_with_what_there_is(local):
    """An option that is gone by name is refused in a sentence that lists the board's own."""
    gateway = local.gateway()
    change = change_of(gateway)
    local.act("rename_option", field="Status", option="In Review", to="Review", reissue_ids=True)
    with pytest.raises(Refused, match=r'no status "In Review". It has: Todo, In Progress, Review, Done'):
        gateway.move_card(change)


def test_a_reissued_option_does_not_hold_an_order(local):
    """Orders that carry a card do their own part, then mend the card."""
    local.push()
    gateway = local.gateway()

    def reissue():
        local.act("rename_option", field="Status", option="Todo", to="Todo", reissue_ids=True)

    task = gateway.task(42)
    claim = card_change(task.card, status="In Progress", agent="octo-1")[0]
    reissue()
    assert gateway.claim_task(task, claim) == ""
    assert local.card()["Status"] == "In Progress"
    opening = order(gateway)
    reissue()
    assert gateway.open_pull(opening)[1] == ""
    assert local.card()["Status"] == "In Review"
    closing = closure(gateway)
    reissue()
    assert gateway.close_task(closing) == ""
    assert local.card()["Status"] == "Done"


def test_an_unmovable_card_is_returned_as_trouble(local):
    """A pull request is opened although its card has been archived meanwhile."""
    local.push()
    gateway = local.gateway()
    opening = order(gateway)
    local.act("archive_item", issue=42)
    pull, trouble = gateway.open_pull(opening)
    assert pull.number == 45
    assert "archived and cannot be updated" in trouble


def test_a_missing_option_does_not_hold_the_close(local):
    """A change that names no option of the board closes the issue and says what is wrong."""
    gateway = local.gateway()
    closing = closure(gateway)
    assert closing.change is not None
    trouble = gateway.close_task(replace(closing, change=replace(closing.change, status="Nowhere")))
    assert 'no status "Nowhere"' in trouble
    assert next(i["state"] for i in local.state()["issues"] if i["number"] == 42) == "closed"


def test_only_the_card_is_written_when_nothing_else_is_missing(local):
    """An issue found closed is neither closed nor commented again."""
    gateway = local.gateway()
    closing = closure(gateway)
    gateway.close_task(CloseTask(closing.issue_id, 42, None, False, closing.change))
    state = local.state()
    assert state["comments"] == []
    assert next(i["state"] for i in state["issues"] if i["number"] == 42) == "open"
    assert local.card()["Status"] == "Done"


def test_an_agent_of_an_empty_status_is_written_alone(local):
    """An empty status leaves Status alone; an empty agent clears the field only where it is set."""
    gateway = local.gateway()
    gateway.move_card(change_of(gateway, status="", agent="octo-1"))
    assert local.card() == {"Status": "Todo", "Priority": "P1", "Agent": "octo-1"}
    gateway.move_card(change_of(gateway, status="", agent=""))
    assert local.card() == {"Status": "Todo", "Priority": "P1"}
    local.operations()
    gateway.move_card(change_of(gateway, status="", agent=""))
    assert local.operations() == ["Card"]


def test_an_assignment_that_is_dropped_is_said(local):
    """GitHub drops assignments of people without push access silently; we do not."""
    local.act("role", user="guest", role="read")
    gateway = local.gateway(token="as:guest")
    trouble = gateway.claim_task(gateway.task(42), None)
    assert "did not assign guest to #42" in trouble
    assert "push access" in trouble


def test_a_claim_of_ones_own_issue_is_not_repeated(local):
    """Someone who is assigned already is not assigned again."""
    gateway = local.gateway()
    assert gateway.claim_task(gateway.task(42), None) == ""
    local.operations()
    assert gateway.claim_task(gateway.task(42), None) == ""
    assert local.operations() == ["Task"]


def test_a_card_change_without_scope_is_refused_in_words(local):
    """Moving a card with a token that reaches no board says what is missing."""
    change = change_of(local.gateway())
    with pytest.raises(MissingScope, match="lacks the scope project") as raised:
        local.gateway(token="no-project-scope").move_card(change)
    assert raised.value.scope == "project"


def test_an_order_without_board_scope_is_done_without_the_board(local):
    """GitHub turns a whole document away for one part; the order is sent again without its card."""
    local.push()
    rich, poor = local.gateway(), local.gateway(token="no-project-scope")
    task, opening, closing = rich.task(42), order(rich), closure(rich)
    change = change_of(rich)

    def check(kind, trouble):
        assert "lacks the scope project" in trouble, kind
        assert local.card()["Status"] == "Todo", kind

    check("claim", poor.claim_task(task, change))
    check("release", poor.release_task(rich.task(42), change))
    check("open", poor.open_pull(opening)[1])
    assert len(local.state()["pulls"]) == 1
    check("close", poor.close_task(closing))
    assert len(local.state()["comments"]) == 1


def test_a_half_silent_answer_is_not_taken_for_success(documented):
    """A part that is neither there nor refused may have been done."""
    documented.given("Closing", answer())
    documented.given("CloseTask", {"data": {"comment": {"clientMutationId": None}, "close": None, "status": {}}})
    gateway = documented.gateway()
    with pytest.raises(GitHubDown, match="does not say whether") as raised:
        gateway.close_task(closure(gateway))
    assert raised.value.maybe_applied
    documented.given("Lookup", answer())
    documented.given("OpenPull", {"data": {"pull": {"pullRequest": None}}})
    with pytest.raises(GitHubDown):
        gateway.open_pull(order(gateway))
    documented.given("Card", answer())
    documented.given("MoveCard", {"data": {}})
    with pytest.raises(GitHubDown):
        gateway.move_card(change_of(gateway))


def test_a_card_that_is_gone_when_it_is_read_again_is_told(documented):
    """A re-issued option on a card that has left the board meanwhile is not found."""
    documented.given("Card", answer())
    wrong = error("VALIDATION", "The single select option Id does not belong to the field", "status")
    documented.given("MoveCard", {"data": {"status": None}, "errors": [wrong]})
    documented.given("CardAgain", {"data": {"node": None}})
    gateway = documented.gateway()
    with pytest.raises(NotFound, match="reading the card again"):
        gateway.move_card(change_of(gateway))


def test_the_right_board_of_many_is_chosen(documented):
    """An issue on several boards has its card on the configured one; a live one goes before an archived one."""
    other = item(id="PVTI_other", project={"id": "PVT_9"}, status="Elsewhere")
    gone = item(id="PVTI_old", isArchived=True)
    documented.given("Card", answer(issue=issue(projectItems={"nodes": [other, None, gone, item()]})))
    card = documented.gateway().card(42)
    assert isinstance(card, Card)
    assert (card.item_id, card.project_id, card.status) == ("PVTI_1", "PVT_1", "Todo")


def test_a_board_of_someone_else_is_asked_for_by_its_owner(documented):
    """The configured owner, not the repository's, owns the board."""
    documented.given("Card", answer())
    documented.gateway(project={"owner": "acme", "number": 7}).card(42)
    assert documented.asked[0][1]["boardOwner"] == "acme"
    assert documented.asked[0][1]["boardNumber"] == 7


def test_a_card_among_fifty_fields_is_read(documented):
    """Fields are found by name and kind among as many as a board can have."""
    board = fields()
    extra = [{"id": f"F_{n}", "name": f"Field {n}", "dataType": "TEXT"} for n in range(46)]
    decoy = {"id": "F_x", "name": "agent", "dataType": "NUMBER"}
    board["fields"]["nodes"] = [*extra, {}, None, decoy, *board["fields"]["nodes"]]
    documented.given("Card", answer(owner={"projectV2": board}))
    card = documented.gateway().card(42)
    assert isinstance(card, Card)
    assert (card.status_field_id, card.agent_field_id, len(card.options)) == ("F_status", "F_agent", 4)


def test_a_board_without_our_fields_still_gives_a_card(documented):
    """Missing fields leave a card that nothing can be written on."""
    documented.given("Card", answer(owner={"projectV2": {"id": "PVT_1", "fields": {"nodes": []}}}))
    gateway = documented.gateway()
    card = gateway.card(42)
    assert isinstance(card, Card)
    assert (card.status_field_id, card.agent_field_id, card.options) == (None, None, ())
    gateway.move_card(CardChange(card, "", "octo-1"))
    assert documented.operations() == ["Card"]


FORBIDDEN = "Resource not accessible by integration"


def test_a_forbidden_board_does_not_hide_the_rest(documented):
    """Partial answers are used for what they hold, and the missing card says which permission is missing."""
    part = error("FORBIDDEN", FORBIDDEN, "boardOwner", "projectV2")
    documented.given("*", answer(part, owner={"projectV2": None}))
    for look in (
        lambda gateway: gateway.lookup(branch="work", issue=42),
        lambda gateway: gateway.closing(issue=42, pull=None, branch="", marker=MARKER),
        lambda gateway: gateway.task(42),
    ):
        seen = look(documented.gateway(token="ghs_x"))
        assert isinstance(seen.card, NoCard), seen
        assert "Projects: write" in seen.card.reason, seen
        assert len(documented.operations()) == 1, seen


def test_a_card_that_spoils_the_issue_is_left_out(documented):
    """Where a refused card takes the issue with it, the issue is asked for again without it."""
    part = error("FORBIDDEN", FORBIDDEN, "repository", "issue", "projectItems")
    documented.given("Closing", answer(part, issue=None), answer(owner={}))
    seen = documented.gateway().closing(issue=42, pull=None, branch="", marker=MARKER)
    assert seen.is_open
    assert isinstance(seen.card, NoCard)
    assert [values["board"] for _, values in documented.asked] == [True, False]


def test_pulls_of_forks_are_not_ours(documented):
    """A fork's branch of the same name is somebody else's."""
    from documented import pull

    nodes = [pull(number=50, isCrossRepository=True), pull(number=45)]
    documented.given("*", answer(pullRequests={"nodes": nodes}))
    gateway = documented.gateway()
    assert [pull.number for pull in gateway.lookup(branch="work", issue=42).pulls] == [45]
    found = gateway.branch_pull("work")
    assert found is not None
    assert found.number == 45


def test_an_older_server_is_asked_without_dependencies(documented):
    """A server that knows no blockers gives a task without any, for one more request."""
    unknown = {"message": "Field 'blockedBy' doesn't exist on type 'Issue'", "extensions": {"code": "undefinedField"}}
    plain = {name: value for name, value in issue().items() if name not in {"blockedBy", "subIssues"}}
    documented.given("Task", {"errors": [unknown | {"path": ["query Task", "repository", "issue", "blockedBy"]}]})
    documented.given("TaskPlain", answer(issue=plain))
    task = documented.gateway().task(42)
    assert (task.number, task.open_blockers, task.open_sub_issues) == (42, (), ())
    assert documented.operations() == ["Task", "TaskPlain"]


def test_a_base_of_ones_own_is_compared_with(local):
    """A configured base takes the default branch's place when commits are counted."""
    local.push("release")
    local.act("push_commit", branch="work", path="a.txt", content="a\n")
    assert local.gateway().lookup(branch="release", issue=42).commits_ahead == 1
    seen = local.gateway(pr={"base": "release"}).lookup(branch="release", issue=42)
    assert (seen.commits_ahead, seen.default_branch) == (0, "main")
    assert local.gateway(pr={"base": "gone"}).lookup(branch="work", issue=42).commits_ahead is None


def test_odd_titles_survive(local):
    """Titles, bodies and agents with every kind of odd character arrive as they were sent."""
    gateway = local.gateway()
    for place, title in enumerate(ODD_TITLES):
        number = local.act("add_issue", title=title, status="Todo")["number"]
        branch = local.push(f"work{place}", path=f"{place}.txt")
        assert gateway.task(number).title == title
        gateway.open_pull(replace(order(gateway, branch=branch, with_card=False), title=title, body=title))
        opened = local.state()["pulls"][-1]
        assert (opened["head"], opened["title"]) == (branch, title)
        assert without_digests(opened["body"]).rstrip("\n") == title
        gateway.move_card(change_of(gateway, status="", agent=title))
        assert local.card()["Agent"] == title
