"""The world of a team: two repositories of an organisation on one board."""

REPOSITORIES = ("acme/api", "acme/web")
CARDS = """{ repositoryOwner(login: "acme") { ... on ProjectV2Owner { projectV2(number: 7) {
  fields(first: 30) { nodes { ... on ProjectV2FieldCommon { name dataType } } }
  items(first: 100, query: "%s") { nodes {
    priority: fieldValueByName(name: "Priority") { __typename ... on ProjectV2ItemIssueFieldValue {
      issueFieldValue { ... on IssueFieldSingleSelectValue { name field { ... on IssueFieldCommon { name } } } } } }
    content { ... on Issue {
      number repository { nameWithOwner } assignees(first: 5) { nodes { login } } issueType { name }
      assignedActors(first: 5) { nodes { __typename ... on Bot { login } ... on User { login } } } } } } }
} } } }"""


def cards(team, query=""):
    """Return the cards that pass a filter of the shared board."""
    answer = team.post("/graphql", {"query": CARDS % query}).json()
    assert "errors" not in answer, answer
    return answer["data"]["repositoryOwner"]["projectV2"]["items"]["nodes"]


def test_both_repositories_have_twelve_open_issues_on_the_board(team):
    """Each repository has #1 to #12, open and Todo on board 7, with titles of its own."""
    state = team.state()
    assert {(entry["repo"], entry["number"]) for entry in state["issues"]} == {
        (repo, number) for repo in REPOSITORIES for number in range(1, 13)
    }
    assert {entry["state"] for entry in state["issues"]} == {"open"}
    assert len({entry["title"] for entry in state["issues"]}) == 24
    assert {(entry["project"], entry["fields"]["Status"]) for entry in state["items"]} == {(7, "Todo")}
    assert sorted((entry["repo"], entry["issue"]) for entry in state["items"]) == sorted(
        (entry["repo"], entry["number"]) for entry in state["issues"]
    )


def test_issue_three_belongs_to_a_bot(team):
    """A bot is an assigned actor, and no assignee: that list holds people only."""
    (card,) = [entry for entry in cards(team, "repo:acme/api") if entry["content"]["number"] == 3]
    assert card["content"]["assignees"]["nodes"] == []
    assert card["content"]["assignedActors"]["nodes"] == [{"__typename": "Bot", "login": "copilot-swe-agent"}]
    (shown,) = team.read("/repos/acme/api/issues/3")["assignees"]
    assert shown["type"] == "Bot"
    assert len(cards(team, "no:assignee")) == 22


def test_the_priority_is_an_issue_field(team):
    """The board shows what the issue holds, filters by it, and refuses to be written to."""
    (card,) = [entry for entry in cards(team, "repo:acme/api") if entry["content"]["number"] == 1]
    assert card["priority"]["__typename"] == "ProjectV2ItemIssueFieldValue"
    assert card["priority"]["issueFieldValue"] == {"name": "P0", "field": {"name": "Priority"}}
    assert {entry["content"]["number"] for entry in cards(team, "repo:acme/web priority:P1")} == {2, 5, 8, 11}
    team.act("set_field", repo="acme/web", issue=2, field="Priority", value="P2")
    shown = next(item for item in team.state()["items"] if (item["repo"], item["issue"]) == ("acme/web", 2))
    assert shown["fields"] == {"Status": "Todo", "Priority": "P2"}
    assert "it has P0, P1, P2" in team.refused_act("set_field", repo="acme/web", issue=2, field="Priority", value="x")


def test_the_board_has_no_agent_field(team):
    """Nothing but Status and Priority was added to the fields every board has."""
    answer = team.post("/graphql", {"query": CARDS % ""}).json()["data"]["repositoryOwner"]["projectV2"]
    names = [field["name"] for field in answer["fields"]["nodes"]]
    assert names[-2:] == ["Status", "Priority"]
    assert "Agent" not in names


def test_types_and_relations_cross_repositories(team):
    """An issue gets a type of its organisation, and a blocker and a parent in the other repository."""
    team.act("set_type", repo="acme/api", issue=4, type="Epic")
    team.act("block_issue", repo="acme/api", issue=5, blocked_by="acme/web#5")
    team.act("sub_issue", repo="acme/web", issue=6, parent="acme/api#4")
    typed = next(entry for entry in cards(team, "repo:acme/api") if entry["content"]["number"] == 4)
    assert typed["content"]["issueType"] == {"name": "Epic"}
    issues = {(entry["repo"], entry["number"]): entry for entry in team.state()["issues"]}
    assert issues["acme/api", 5]["blocked_by"] == ["acme/web#5"]
    assert issues["acme/web", 6]["parent"] == "acme/api#4"
    assert "known: Task, Bug, Feature, Epic" in team.refused_act("set_type", repo="acme/api", issue=4, type="Odd")


def test_octo_may_write_to_both(team):
    """The default user may write to both repositories and to the board."""
    for repo in REPOSITORIES:
        assert team.read(f"/repos/{repo}")["permissions"]["push"] is True
        team.act("set_field", repo=repo, issue=1, field="Status", value="In Progress", by="octo")


def test_an_act_without_a_repository_means_the_first_one(team):
    """In a world without octo/demo, acts are about the first repository."""
    team.act("close_issue", issue=1)
    assert {entry["repo"] for entry in team.state()["issues"] if entry["state"] == "closed"} == {"acme/api"}
