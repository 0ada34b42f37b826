"""Two repositories of one organisation on one board: nobody ever touches an issue of the other repository."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
from support.clients import Client, shared_nursery
from support.prove import PROVE
from support.stage import QuickStage, agent
from support.team import issues_of, team_at

API, WEB = "acme/api", "acme/web"
SESSION = {"CLAUDECODE": "1"}
# In each repository: how many claim at once, and how many of them go on to the close.
AGENTS, TO_THE_END = (5, 5) if PROVE else (3, 1)
# The issues of the highest priority, but for the bot's #3, and those of the next.
HIGHEST, NEXT = {1, 4, 7, 10}, {2, 5, 8, 11}


@pytest.fixture
def team(tmp_path):
    """The team's GitHub."""
    with team_at(tmp_path) as found:
        yield found


def claimed_at_once(members):
    """Let everybody run `claim --next` at the same moment; return the number each one got."""

    def take(stage):
        status, stdout, stderr = stage.run("claim", "--next", "--json", stdin="")
        assert status == 0, stderr
        return json.loads(stdout)["claim"]["issue_number"]

    with ExitStack() as clients, ThreadPoolExecutor(len(members)) as pool:
        # A client runs one command at a time.
        stages = [
            replace(stage, client=clients.enter_context(closing(Client(shared_nursery(), stage.root))))
            if isinstance(stage, QuickStage)
            else stage
            for stage in (member.stage for member in members)
        ]
        return list(pool.map(take, stages))


def play_to_the_end(member, repository):
    """Commit, hand off, open, merge and close what a member holds; return the pull request's number."""
    stage, issue = member.stage, member.stage.claim()["issue_number"]
    stage.commit(f"work-{issue}.txt", f"{repository}\n", f"Do {issue}")
    handed = stage.command("handoff", "--summary", f"Do {issue} of {repository}")
    assert handed.status == 0, handed.stderr
    assert member.hook("on-stop").status == 0
    pull = stage.claim()["pr_number"]
    stage.act("merge_pull", repo=repository, pull=pull)
    member.hook("on-idle")
    assert stage.command("done").status == 0
    member.hook("on-stop")
    assert stage.claim() is None
    return pull


def test_many_agents_on_one_board(team):
    """Agents claim at once and play to the close; each repository's issues are its own, none is taken twice."""
    members = {
        repository: [team.member(f"{repository[5:]}{n}", repository, **SESSION) for n in range(AGENTS)]
        for repository in (API, WEB)
    }
    everybody = [member for pair in zip(*members.values(), strict=True) for member in pair]
    # One agent more than there are issues of the highest priority.
    for repository in (API, WEB):
        for number in sorted(HIGHEST)[AGENTS - 1 :]:
            everybody[0].stage.act("close_issue", repo=repository, issue=number)
    before = everybody[0].stage.world()
    numbers = claimed_at_once(everybody)
    got = {API: numbers[0::2], WEB: numbers[1::2]}
    for repository in (API, WEB):
        # Whoever lost a race took any issue of the next priority.
        assert set(got[repository]) & HIGHEST == set(sorted(HIGHEST)[: AGENTS - 1])
        assert len(set(got[repository]) & NEXT) == 1
        for member, number in zip(members[repository], got[repository], strict=True):
            issue = issues_of(member.stage.world(), repository)[number]
            assert (issue["assignees"], issue["card"]["Status"]) == (["octo"], "In Progress")
    between = everybody[0].stage.world()
    pulls = {
        repository: [play_to_the_end(one, repository) for one in members[repository][:TO_THE_END]]
        for repository in members
    }
    world = everybody[0].stage.world()
    for repository in (API, WEB):
        was, held, now = (issues_of(one, repository) for one in (before, between, world))
        for number, issue in now.items():
            if number in got[repository][:TO_THE_END]:
                assert (issue["state"], issue["card"]["Status"]) == ("closed", "Done")
            else:
                assert issue == (held if number in got[repository] else was)[number]
        merged = {pull["number"]: pull for pull in world["pulls"] if pull["repo"] == repository}
        assert set(merged) == set(pulls[repository])
        for pull, number in zip(pulls[repository], got[repository][:TO_THE_END], strict=True):
            assert (merged[pull]["merged"], merged[pull]["title"]) == (True, f"Do {number} of {repository}")
        claims = {ref["name"] for ref in world["refs"] if ref["repo"] == repository and "/claims/" in ref["name"]}
        assert claims == {f"refs/agentsync/claims/{number}" for number in got[repository]}


def test_only_this_repositorys_tasks_are_offered(team):
    """`next`, the session's start and `claim` by title know this repository's issues only, and say what they left."""
    api = team.member("api", "Acme/API")
    listed = api.stage.command("next", "-n", "20")
    assert listed.requests == 1
    assert "#1      P0   Drop the legacy billing table" in listed.stdout
    assert "typo" not in listed.stdout
    assert "#3 " not in listed.stdout
    assert "Left out: 12 of other repositories." in listed.stdout
    as_json = json.loads(api.stage.command("next", "--json").stdout)
    assert {issue["repository"] for issue in as_json} == {API}
    briefed = agent(api.stage.hook("session-start", event="SessionStart"))
    assert '#1 ["P0"] "Drop the legacy billing table"' in briefed
    assert 'Board "Acme": 12 "Todo", 0 "In Progress", 0 "In Review", 0 "Done".' in briefed
    assert "login page" not in briefed
    refused = api.stage.command("claim", "typo on the login")
    assert (refused.status, "No open issue on the board has" in refused.stderr) == (6, True)
    assert api.stage.claim() is None


def test_the_board_names_other_repositories(team):
    """`board` shows the whole board; a number alone is always this repository's."""
    api = team.member("api", API)
    played = api.stage.command("board", "-n", "50")
    lines = played.stdout.splitlines()
    assert lines[0] == "Todo (24)"
    assert "  #1 [P0] Drop the legacy billing table" in lines
    assert "  acme/web#1 [P0] Fix a typo on the login page" in lines
    assert "  acme/web#3 [P2] Show prices with tax · copilot-swe-agent" in lines
    assert [line for line in lines if not line.startswith(" ")][1:] == ["In Progress (0)", "In Review (0)", "Done (0)"]
    assert played.requests == 1
    names = {
        (issue["repository"], issue["number"]) for issue in json.loads(api.stage.command("board", "--json").stdout)
    }
    assert names == {(repository, number) for repository in (API, WEB) for number in range(1, 13)}


OF_OTHERS = {
    "acme/web#1": (2, "acme/web#1 is an issue of acme/web; this is a clone of acme/api."),
    "acme/api#5": (1, "Issue #5 is blocked by acme/web#5."),
    "3": (3, "Issue #3 is held by copilot-swe-agent."),
}


def test_what_belongs_to_others_is_refused(team):
    """An issue of another repository, one blocked from there, and one that a bot works on are not taken."""
    api = team.member("api", API)
    api.stage.act("block_issue", repo=API, issue=5, blocked_by="acme/web#5")
    before = api.stage.world()
    for issue, (status, says) in OF_OTHERS.items():
        played = api.stage.command("claim", issue)
        assert (issue, played.status, says in played.stderr) == (issue, status, True), played.stderr
        assert api.stage.world() == before


def test_a_hidden_blocker_counts_and_a_hidden_parent_does_not(team):
    """What a token may not see still blocks, and is said; any other hidden relative keeps nobody from the issue."""
    api = team.member("api", API)
    act = api.stage.act
    act("block_issue", repo=API, issue=5, blocked_by="acme/web#5")
    act("sub_issue", repo=API, issue=6, parent="acme/web#4")
    act("visibility", repo=WEB, private=True)
    act("role", repo=WEB, user="octo", role="none")
    refused = api.stage.command("claim", "5")
    assert (refused.status, "blocked by 1 issue that this token may not see" in refused.stderr) == (1, True)
    assert "#5 " not in api.stage.command("next", "-n", "20").stdout
    permissions = {"issues": "write", "contents": "write", "pull_requests": "write", "organization_projects": "write"}
    act("token", token="github_pat_team", kind="fine_grained", permissions=permissions)
    fine = team.member("fine", API, GH_TOKEN="github_pat_team")
    played = fine.stage.command("claim", "6")
    assert played.status == 0, played.stderr
    assert "blocked by 1 issue" in fine.stage.command("claim", "5", "--worktree").stderr


def test_an_issue_that_somebodys_pull_request_will_close_is_held(team):
    """An open pull request of somebody else that closes an issue speaks for them; one's own does not."""
    api, mona = team.member("api", API), team.member("mona", API, GH_TOKEN="as:mona")
    mona.work("rival")
    body = {"title": "Mine", "head": "rival", "base": "main", "body": "Closes #2"}
    number = post(mona, f"/repos/{API}/pulls", body)["number"]
    played = api.stage.command("claim", "2")
    assert played.status == 3
    assert f"Issue #2 is held by mona, whose PR #{number} is open." in played.stderr
    assert "#2 " not in api.stage.command("next", "-n", "20").stdout
    assert mona.stage.command("claim", "2").status == 0


def post(member, path, body):
    """Ask the local GitHub's REST interface as a member."""
    import httpx

    headers = {"Authorization": f"Bearer {member.stage.environment['GH_TOKEN']}"}
    answer = httpx.post(f"{member.stage.url}{path}", json=body, headers=headers, trust_env=False, timeout=30)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_epics_are_no_tasks(team):
    """An issue of a type that is no task is not offered, unless the settings say otherwise."""
    api = team.member("api", API)
    api.stage.act("set_type", repo=API, issue=1, type="Epic")
    assert "#1 " not in api.stage.command("next", "-n", "20").stdout
    (api.stage.root / ".agent-sync.toml").write_text("[board]\nskip_types = []\n")
    assert "#1 " in api.stage.command("next", "-n", "20").stdout


def test_a_renamed_repository_plays_on(team):
    """The old address leads to the new name: what is offered and claimed is still this repository's."""
    api = team.member("api", API)
    api.stage.act("rename_repository", repo=API, name="core")
    assert "#1      P0   Drop the legacy billing table" in api.stage.command("next").stdout
    played = api.stage.command("claim", "--next")
    assert (played.status, 'Claimed issue #1 "Drop the legacy billing table"' in played.stdout) == (0, True)
    assert issues_of(api.stage.world(), "acme/core")[1]["card"]["Status"] == "In Progress"
    assert issues_of(api.stage.world(), WEB)[1]["card"]["Status"] == "Todo"


def test_a_renamed_organisation_plays_on(team):
    """The remote's old name and the settings' old owner lead to the same board; the doctor says what to correct."""
    api = team.member("api", API)
    api.stage.act("rename_owner", repo=API, login="acme-labs")
    assert "#1      P0   Drop the legacy billing table" in api.stage.command("next").stdout
    api.git("remote", "set-url", "origin", api.git("remote", "get-url", "origin").replace("acme/", "acme-labs/"))
    played = api.stage.command("claim", "1")
    assert played.status == 0, played.stderr
    assert issues_of(api.stage.world(), "acme-labs/api")[1]["card"]["Status"] == "In Progress"
    assert 'project.owner = "acme-labs"' in api.stage.command("doctor").stdout
