REPO = "/repos/octo/demo"


def test_issues_are_added_with_labels_and_a_card(client):
    """An issue with a status is on the board; one without is not."""
    carded = client.act("add_issue", title="A", body="b", labels=["bug", "new"], status="Todo")["number"]
    plain = client.act("add_issue", title="B")["number"]
    assert client.issue(carded)["labels"] == ["bug", "new"]
    assert client.card(carded)["fields"] == {"Status": "Todo"}
    assert client.card(plain) is None
    assert "no option 'Soon'" in client.refused_act("add_issue", title="C", status="Soon")
    assert client.act("add_issue", title="D")["number"] == plain + 1


def test_odd_titles_survive(client):
    """A title with every kind of odd character comes back as it was."""
    title = "«ß» \u202e\u0000\x1b[31m 🦀 <b>&amp;</b> \\ \" ' `$(rm)` \t"
    number = client.act("add_issue", title=title)["number"]
    assert client.issue(number)["title"] == title
    assert client.read(f"{REPO}/issues/{number}")["title"] == title


def test_issues_close_and_reopen(client):
    """Closing sets the reason, reopening says so."""
    client.act("close_issue", issue=42)
    assert (client.issue(42)["state"], client.issue(42)["state_reason"]) == ("closed", "completed")
    client.act("reopen_issue", issue=42)
    assert (client.issue(42)["state"], client.issue(42)["state_reason"]) == ("open", "reopened")


def test_relations(client):
    """Issues can block each other and be parts of each other, without cycles."""
    client.act("block_issue", issue=43, blocked_by=42)
    client.act("sub_issue", issue=42, parent=40)
    assert client.issue(43)["blocked_by"] == [42]
    assert client.issue(42)["parent"] == 40
    assert "already been taken" in client.refused_act("block_issue", issue=43, blocked_by=42)
    assert "itself" in client.refused_act("block_issue", issue=43, blocked_by=43)
    assert "ancestor" in client.refused_act("sub_issue", issue=40, parent=42)


def test_comments_on_issues_and_pulls(client):
    """A comment can be on an issue or a pull request, and cannot be empty."""
    number = client.opened_pull()
    client.act("comment", issue=number, body="On the pull request", by="mona")
    (comment,) = client.state()["comments"]
    assert (comment["issue"], comment["by"]) == (number, "mona")
    assert "blank" in client.refused_act("comment", issue=42, body=" ")


def test_fields_are_set_by_the_names_people_see(client):
    """A field takes an option's name or a text; null clears it."""
    client.act("set_field", issue=42, field="Status", value="In Review")
    client.act("set_field", issue=42, field="Agent", value="octo-1")
    assert client.card(42)["fields"] == {"Status": "In Review", "Priority": "P1", "Agent": "octo-1"}
    client.act("set_field", issue=42, field="Agent", value=None)
    assert "Agent" not in client.card(42)["fields"]
    assert "it has Todo, In Progress" in client.refused_act("set_field", issue=42, field="Status", value="X")
    assert "no field 'Size'" in client.refused_act("set_field", issue=42, field="Size", value="X")
    assert "not supported" in client.refused_act("set_field", issue=42, field="Title", value="X")


def test_renaming_an_option_keeps_cards_unless_ids_are_reissued(client):
    """A renamed option stays on its cards; re-issued ids leave every card of the field empty."""
    client.act("rename_option", field="Status", option="Todo", to="Ready")
    assert client.card(42)["fields"]["Status"] == "Ready"
    client.act("rename_option", field="Status", option="Ready", to="Todo", reissue_ids=True)
    assert "Status" not in client.card(42)["fields"]
    assert "Status" not in client.card(40)["fields"]
    assert client.card(42)["fields"]["Priority"] == "P1"
    assert "no option 'Nope'" in client.refused_act("rename_option", field="Status", option="Nope", to="X")


def test_archived_cards_refuse_changes(client):
    """An archived card stays in the world and refuses changes until it is taken out."""
    client.act("archive_item", issue=42)
    assert client.card(42)["archived"] is True
    refused = client.refused_act("set_field", issue=42, field="Status", value="Done")
    assert refused == "The item is archived and cannot be updated"
    client.act("archive_item", issue=42, on=False)
    client.act("set_field", issue=42, field="Status", value="Done")


def test_cards_are_removed_and_added(client):
    """A removed card is gone with its values; adding twice gives the same card."""
    client.act("remove_item", issue=42)
    assert client.card(42) is None
    assert "#42 is not on the board" in client.refused_act("set_field", issue=42, field="Agent", value="x")
    first, second = client.act("add_item", issue=42)["id"], client.act("add_item", issue=42)["id"]
    assert first == second
    assert client.card(42)["fields"] == {}


def test_growing_the_board(client):
    """More finished issues can be put on the board."""
    client.act("grow_board", items=25)
    state = client.state()
    assert len(state["items"]) == 30
    assert state["issues"][-1]["state"] == "closed"
    assert state["items"][-1]["fields"] == {"Status": "Done"}


def test_automation_is_off_until_switched_on(client):
    """Closing and Done do not touch each other, unless automation is on."""
    client.act("close_issue", issue=42)
    assert client.card(42)["fields"]["Status"] == "Todo"
    client.act("automation", on=True)
    client.act("close_issue", issue=43)
    assert client.card(43)["fields"]["Status"] == "Done"
    client.act("set_field", issue=41, field="Status", value="Done")
    assert client.issue(41)["state"] == "closed"
    client.act("automation", on=False)
    client.act("set_field", issue=40, field="Status", value="Done")
    assert client.issue(40)["state"] == "open"


def test_merging_moves_the_cards_when_automation_is_on(client):
    """A merged pull request's card and those of the issues it closes go to Done."""
    client.act("automation", on=True)
    number = client.opened_pull(body="Closes #42")
    client.act("add_item", issue=number)
    client.act("merge_pull", pull=number)
    assert client.card(number)["fields"]["Status"] == "Done"
    assert client.card(42)["fields"]["Status"] == "Done"


def test_roles_decide_what_a_user_may_do(client):
    """A reader may comment and nothing more; a made-up role is refused."""
    client.act("role", user="guest", role="read")
    assert client.post(f"{REPO}/issues/42/comments", {"body": "Hi"}, token="as:guest").status_code == 201
    closing = client.call("PATCH", f"{REPO}/issues/42", json={"state": "closed"}, token="as:guest")
    assert closing.status_code == 403
    assigned = client.post(f"{REPO}/issues/42/assignees", {"assignees": ["guest"]}, token="as:guest")
    assert (assigned.status_code, assigned.json()["assignees"]) == (201, [])
    assert "unknown role" in client.refused_act("role", user="guest", role="boss")


def test_a_read_only_repository_refuses_writes(client):
    """While the repository is read-only every write is refused, and acts still happen."""
    client.act("read_only", on=True)
    answer = client.post(f"{REPO}/issues", {"title": "X"})
    assert answer.status_code == 403
    assert answer.json()["message"] == "Repository was archived so is read-only."
    client.act("add_issue", title="Still")
    client.act("read_only", on=False)
    assert client.post(f"{REPO}/issues", {"title": "X"}).status_code == 201
