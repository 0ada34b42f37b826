"""Behaviour of questions."""

from behaviour import MARKER, Behaviour, contexts, failed, nothing, opened, pushed, run, taken
from documented import answer, error, issue, item, pull, shape

from agent_sync.errors import NotFound
from agent_sync.task.decision.facts import NoCard, PullState
from agent_sync.task.decision.feedback.checks import CI, verdict

READS = {
    "lookup-of-a-pushed-branch": Behaviour(
        lambda g: g.lookup(branch="work", issue=42),
        pushed,
        {"Lookup": answer()},
        lambda seen: (
            (seen.default_branch, seen.commits_ahead, seen.pulls, seen.card.status) == ("main", 1, (), "Todo")
            and len(seen.remote_sha) == 40
        ),
    ),
    "lookup-of-a-branch-that-is-not-there": Behaviour(
        lambda g: g.lookup(branch="nowhere", issue=42),
        nothing,
        {"Lookup": answer(head=None, default={"compare": None})},
        lambda seen: (seen.remote_sha, seen.commits_ahead, seen.pulls) == (None, None, ()),
    ),
    "lookup-finds-the-open-pull": Behaviour(
        lambda g: g.lookup(branch="work", issue=42),
        opened,
        {"Lookup": answer(pullRequests={"nodes": [pull()]})},
        lambda seen: [(p.number, p.state) for p in seen.pulls] == [(45, PullState.OPEN)],
    ),
    "lookup-without-a-configured-board": Behaviour(
        lambda g: g.lookup(branch="work", issue=42).card,
        pushed,
        {"Lookup": answer(owner={})},
        lambda card: isinstance(card, NoCard) and "project.number" in card.reason,
        tables={"project": {}},
    ),
    "lookup-of-a-board-that-is-not-there": Behaviour(
        lambda g: g.lookup(branch="work", issue=42),
        pushed,
        {
            "Lookup": answer(
                error("NOT_FOUND", "Could not resolve to a ProjectV2 with the number 9.", "boardOwner", "projectV2"),
                owner={"projectV2": None},
            )
        },
        lambda seen: seen.commits_ahead == 1 and "no board 9 of octo" in seen.card.reason,
        tables={"project": {"number": 9}},
    ),
    "lookup-of-an-issue-that-is-not-there": Behaviour(
        lambda g: g.lookup(branch="work", issue=999),
        pushed,
        {
            "Lookup": answer(
                error("NOT_FOUND", "Could not resolve to an Issue with the number of 999.", "repository", "issue"),
                issue=None,
            )
        },
        lambda seen: seen.commits_ahead == 1 and isinstance(seen.card, NoCard),
    ),
    "lookup-of-an-issue-off-the-board": Behaviour(
        lambda g: g.lookup(branch="work", issue=42).card,
        lambda local: local.act("remove_item", issue=42),
        {"Lookup": answer(issue=issue(projectItems={"nodes": []}))},
        lambda card: isinstance(card, NoCard) and "not on board 1 of octo" in card.reason,
    ),
    "lookup-in-a-repository-that-is-not-shown": Behaviour(
        lambda g: g.lookup(branch="work", issue=42),
        lambda local: local.git("remote", "set-url", "origin", f"{local.url}/octo/gone.git"),
        {
            "Lookup": {
                "data": {"repository": None},
                "errors": [
                    error("NOT_FOUND", "Could not resolve to a Repository with the name 'octo/gone'.", "repository")
                ],
            }
        },
        failed(NotFound, "Could not resolve to a Repository"),
    ),
    "card-that-is-archived": Behaviour(
        lambda g: g.card(42),
        lambda local: local.act("archive_item", issue=42),
        {"Card": answer(issue=issue(projectItems={"nodes": [item(isArchived=True)]}))},
        lambda card: card.is_archived,
    ),
    "card-names-are-matched-in-any-case": Behaviour(
        lambda g: g.card(42),
        taken,
        {"Card": answer(issue=issue(projectItems={"nodes": [item(agent="octo-1")]}))},
        lambda card: (card.status, card.agent) == ("Todo", "octo-1") and card.agent_field_id is not None,
        tables={"board": {"status_field": "STATUS", "agent_field": "agent"}},
    ),
    "poll-without-checks": Behaviour(
        lambda g: g.pull(45, with_checks=False),
        opened,
        {"Poll": answer(pullRequest=pull())},
        lambda seen: (seen.state, seen.checks, seen.checks_note) == (PullState.OPEN, None, ""),
    ),
    "poll-before-anything-is-reported": Behaviour(
        lambda g: g.pull(45, with_checks=True),
        opened,
        {"Poll": answer(pullRequest=pull(statusCheckRollup=None))},
        lambda seen: seen.checks == () and verdict(seen.head_sha, seen.reported).ci is CI.NONE,
    ),
    "poll-with-a-failed-check": Behaviour(
        lambda g: g.pull(45, with_checks=True),
        lambda local: opened(local, name="test", status="completed", conclusion="failure"),
        {"Poll": answer(pullRequest=pull(**contexts(run("test", conclusion="FAILURE"))))},
        lambda seen: verdict(seen.head_sha, seen.reported).failed == ("test",),
    ),
    "poll-with-a-running-check": Behaviour(
        lambda g: g.pull(45, with_checks=True),
        lambda local: opened(local, name="test", status="in_progress"),
        {"Poll": answer(pullRequest=pull(**contexts(run("test", "IN_PROGRESS", None))))},
        lambda seen: verdict(seen.head_sha, seen.reported).running == 1,
    ),
    "poll-with-a-commit-status": Behaviour(
        lambda g: g.pull(45, with_checks=True),
        lambda local: local.act("add_status", pull=opened(local), context="ci/old", state="success"),
        {
            "Poll": answer(
                pullRequest=pull(
                    **contexts({"context": "ci/old", "contextState": "SUCCESS", "createdAt": "2026-01-01T00:00:00Z"})
                )
            )
        },
        lambda seen: [(check.name, check.result) for check in seen.checks] == [("ci/old", "SUCCESS")],
    ),
    "poll-with-changes-requested": Behaviour(
        lambda g: g.pull(45, with_checks=False),
        lambda local: local.act("review", pull=opened(local), state="request_changes", body="No.", by="mona"),
        {
            "Poll": answer(
                pullRequest=pull(
                    latestOpinionatedReviews={
                        "nodes": [
                            {
                                "id": "PRR_1",
                                "state": "CHANGES_REQUESTED",
                                "author": {"login": "mona"},
                                "authorAssociation": "MEMBER",
                                "authorCanPushToRepository": True,
                            }
                        ]
                    }
                )
            )
        },
        lambda seen: seen.changes_requested_by == ("mona",) and seen.review_id,
    ),
    "poll-of-a-merged-pull": Behaviour(
        lambda g: g.pull(45, with_checks=False).state,
        lambda local: local.act("merge_pull", pull=opened(local), method="squash"),
        {"Poll": answer(pullRequest=pull(state="MERGED"))},
        lambda state: state is PullState.MERGED,
    ),
    "poll-of-a-pull-that-is-not-there": Behaviour(
        lambda g: g.pull(45, with_checks=False),
        nothing,
        {
            "Poll": answer(
                error(
                    "NOT_FOUND",
                    "Could not resolve to a PullRequest with the number of 45.",
                    "repository",
                    "pullRequest",
                ),
                pullRequest=None,
            )
        },
        failed(NotFound, "PullRequest with the number of 45", "reading pull request #45"),
    ),
    "pull-of-a-branch": Behaviour(
        lambda g: g.branch_pull("work").number,
        opened,
        {"BranchPull": answer(pullRequests={"nodes": [pull()]})},
        lambda number: number == 45,
    ),
    "no-pull-of-a-branch": Behaviour(
        lambda g: g.branch_pull("work"), pushed, {"BranchPull": answer()}, lambda came: came is None
    ),
    "closing-finds-our-own-comment": Behaviour(
        lambda g: g.closing(issue=42, pull=None, branch="work", marker=MARKER),
        lambda local: local.act("comment", issue=42, body=f"Completed\n\n{MARKER}"),
        {"Closing": answer(issue=issue(comments={"nodes": [{"body": f"Completed\n\n{MARKER}"}]}))},
        lambda seen: (seen.has_comment, seen.is_open, seen.pull) == (True, True, None),
    ),
    "closing-finds-the-pull-by-its-branch": Behaviour(
        lambda g: g.closing(issue=42, pull=999, branch="work", marker=MARKER).pull.number,
        opened,
        {
            "Closing": answer(
                error("NOT_FOUND", "Could not resolve to a PullRequest …", "repository", "pullRequest"),
                pullRequest=None,
                pullRequests={"nodes": [pull()]},
            )
        },
        lambda number: number == 45,
    ),
    "closing-of-an-issue-that-is-not-there": Behaviour(
        lambda g: g.closing(issue=999, pull=None, branch="", marker=MARKER),
        nothing,
        {
            "Closing": answer(
                error("NOT_FOUND", "Could not resolve to an Issue with the number of 999.", "repository", "issue"),
                issue=None,
            )
        },
        failed(NotFound, "Issue with the number of 999"),
    ),
    "task-with-a-blocker": Behaviour(
        lambda g: g.task(42).open_blockers,
        lambda local: local.act("block_issue", issue=42, blocked_by=43),
        {"Task": answer(issue=issue(blockedBy={"nodes": [{"number": 43, "state": "OPEN"}]}))},
        lambda came: came == (43,),
    ),
    "task-with-a-sub-issue": Behaviour(
        lambda g: g.task(42).open_sub_issues,
        lambda local: local.act("sub_issue", issue=43, parent=42),
        {"Task": answer(issue=issue(subIssues={"nodes": [{"number": 43, "state": "OPEN"}]}))},
        lambda came: came == (43,),
    ),
    "task-with-its-priority": Behaviour(
        lambda g: g.task(42),
        nothing,
        {"Task": answer()},
        lambda task: (
            (task.priority, task.viewer.login, task.default_branch, task.is_open) == ("P1", "octo", "main", True)
        ),
    ),
    "no-board-configured": Behaviour(
        lambda g: (g.board(), list(g.board_issues())),
        nothing,
        {},
        lambda came: came == (None, []),
        tables={"project": {}},
    ),
    "boards-of-the-owner-where-none-is-linked": Behaviour(
        lambda g: g.boards(),
        nothing,
        {
            "Boards": {
                "data": {
                    "repository": {"projectsV2": {"nodes": []}},
                    "boardOwner": {"projectsV2": {"nodes": [shape()]}},
                }
            }
        },
        lambda found: (
            [(board.owner, board.number) for board in found] == [("octo", 1)]
            and found[0].field("status", "SINGLE_SELECT").options == ("Todo", "In Progress", "In Review", "Done")
            and found[0].field("AGENT", "TEXT") is not None
        ),
        tables={"project": {}},
    ),
    "configured-board-and-its-fields": Behaviour(
        lambda g: g.boards(),
        nothing,
        {"Boards": {"data": {"boardOwner": {"projectV2": shape()}}}},
        lambda found: (
            [(board.number, board.field("Priority", "SINGLE_SELECT").options[:1]) for board in found] == [(1, ("P0",))]
        ),
    ),
    "board-that-is-not-there": Behaviour(
        lambda g: g.board(),
        nothing,
        {
            "Board": {
                "data": {"boardOwner": {"projectV2": None}},
                "errors": [
                    error("NOT_FOUND", "Could not resolve to a ProjectV2 with the number 9.", "boardOwner", "projectV2")
                ],
            }
        },
        failed(NotFound, "reading board 9 of octo"),
        tables={"project": {"number": 9}},
    ),
}
