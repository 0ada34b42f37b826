"""Every REST answer of the local GitHub is one that GitHub describes."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from openapi_contract import Contract
from support.surroundings import NO_CERTIFICATES

from agent_sync.emulator.rest.dispatch import ROUTES
from agent_sync.emulator.server import running

REPO = "/repos/octo/demo"
# GitHub serves logs from a storage host of its own; its root page is not in the trimmed description.
NOT_DESCRIBED = {"actions/download-log", "meta/root"}


@dataclass
class Recorder:
    """A client that holds every exchange against the contract and remembers what did not fit."""

    http: Any
    contract: Contract
    problems: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def call(self, method: str, path: str, body: Any = None, *, token: str = "any") -> Any:  # noqa: S107 - no secret
        """Send one request, check both directions, and return the parsed answer."""
        headers = {"authorization": f"Bearer {token}"}
        answer = self.http.request(method, path, json=body, headers=headers)
        parsed = answer.json() if answer.content and "json" in answer.headers["content-type"] else None
        operation = self.contract.operation(method, answer.request.url.path)
        if operation is None:
            self.problems.append(f"{method} {path}: no such operation")
            return parsed
        self.seen.add(operation.id)
        found = self.contract.answer_problems(operation, answer.status_code, parsed)
        if answer.is_success:
            found += self.contract.request_problems(operation, body)
        self.problems += [f"{method} {path} ({operation.id}, {answer.status_code}) {text}" for text in found]
        return parsed

    def get(self, path: str, **more: Any) -> Any:
        """Read something."""
        return self.call("GET", path, **more)

    def act(self, act: str, **fields: Any) -> Any:
        """Let somebody else do something."""
        return self.http.post("/_emulator/act", json={"act": act, **fields}).raise_for_status().json()


@pytest.fixture
def recorder(openapi, tmp_path):
    """Return a recorder in front of a running local GitHub."""
    import httpx

    with (
        running(state=tmp_path) as server,
        httpx.Client(base_url=server.url, verify=NO_CERTIFICATES, timeout=20) as http,
    ):
        yield Recorder(http, Contract(openapi))


def everyday(client: Recorder) -> None:
    """Ask about people, the repository, its branches and commits."""
    for path in ("/meta", "/rate_limit", "/user", "/users/mona", "/users/nobody", REPO, "/repos/octo/none"):
        client.get(path)
    for path in (
        "/collaborators", "/collaborators/mona", "/collaborators/nobody", "/collaborators/mona/permission",
        "/assignees", "/assignees/mona", "/assignees/nobody", "/branches", "/branches/main", "/branches/none",
        "/commits", "/commits/main", "/commits/none", "/labels", "/labels/bug", "/labels/none",
    ):  # fmt: skip
        client.get(REPO + path)
    client.get("/user", token="bad-token")


def issues(client: Recorder) -> None:
    """Open, edit, label, assign, relate, comment on and close issues."""
    made = client.call(
        "POST", f"{REPO}/issues", {"title": "New", "body": "Text", "labels": ["bug"], "assignees": ["mona"]}
    )
    issue = f"{REPO}/issues/{made['number']}"
    client.call("POST", f"{REPO}/issues", {"title": ""})
    client.call("POST", f"{REPO}/issues", {"title": "New"}, token="read-only")
    client.call("PATCH", issue, {"title": "Newer", "body": "More"})
    client.call("POST", f"{issue}/assignees", {"assignees": ["octo"]})
    client.call("POST", f"{issue}/assignees", {"assignees": ["nobody"]})
    client.call("DELETE", f"{issue}/assignees", {"assignees": ["octo"]})
    client.call("POST", f"{REPO}/labels", {"name": "urgent", "color": "ff0000", "description": "Now"})
    client.call("POST", f"{REPO}/labels", {"name": "urgent", "color": "ff0000"})
    client.call("POST", f"{issue}/labels", {"labels": ["urgent"]})
    client.call("PUT", f"{issue}/labels", {"labels": ["bug", "question"]})
    client.get(f"{issue}/labels")
    client.call("DELETE", f"{issue}/labels/question")
    client.call("DELETE", f"{issue}/labels/question")
    client.call("DELETE", f"{issue}/labels")
    relations(client, issue, made["id"])
    comments(client, issue)
    client.call("PATCH", issue, {"state": "closed", "state_reason": "completed"})
    client.call("PATCH", issue, {"state": "open"})
    for path in (issue, f"{issue}/events", f"{REPO}/issues?state=all", f"{REPO}/issues/999"):
        client.get(path)


def relations(client: Recorder, issue: str, number: int) -> None:
    """Put issues under and in the way of each other."""
    other = f"{REPO}/issues/43"
    ids = client.get(other)["id"]
    client.call("POST", f"{issue}/sub_issues", {"sub_issue_id": ids})
    client.call("POST", f"{issue}/sub_issues", {"sub_issue_id": ids})
    client.get(f"{issue}/sub_issues")
    client.get(f"{other}/parent")
    client.get(issue)
    client.call("DELETE", f"{issue}/sub_issue", {"sub_issue_id": ids})
    client.get(f"{other}/parent")
    client.call("POST", f"{other}/dependencies/blocked_by", {"issue_id": number})
    client.get(f"{other}/dependencies/blocked_by")
    client.get(f"{issue}/dependencies/blocking")
    client.call("DELETE", f"{other}/dependencies/blocked_by/{number}")


def comments(client: Recorder, issue: str) -> None:
    """Write, read, change and delete a comment."""
    made = client.call("POST", f"{issue}/comments", {"body": "Hello"})
    client.call("POST", f"{issue}/comments", {"body": ""})
    client.get(f"{issue}/comments")
    client.get(f"{REPO}/issues/comments")
    client.get(f"{REPO}/issues/comments/{made['id']}")
    client.call("PATCH", f"{REPO}/issues/comments/{made['id']}", {"body": "Hi"})
    client.call("DELETE", f"{REPO}/issues/comments/{made['id']}")
    client.get(f"{REPO}/issues/comments/{made['id']}")


def refs(client: Recorder) -> str:
    """Create, read, move and delete refs; return a branch with a commit of its own."""
    client.act("push_commit", branch="work", path="work.txt", content="x\n")
    head = client.get(f"{REPO}/git/ref/heads/work")["object"]["sha"]
    main = client.get(f"{REPO}/git/ref/heads/main")["object"]["sha"]
    client.get(f"{REPO}/git/ref/heads/none")
    client.get(f"{REPO}/git/matching-refs/heads")
    client.get(f"{REPO}/git/commits/{head}")
    client.get(f"{REPO}/compare/main...work")
    objects(client, head)
    for _ in range(2):
        client.call("POST", f"{REPO}/git/refs", {"ref": "refs/agent-sync/x", "sha": head})
    client.call("PATCH", f"{REPO}/git/refs/agent-sync/x", {"sha": main})
    client.call("PATCH", f"{REPO}/git/refs/agent-sync/x", {"sha": main, "force": True})
    client.call("DELETE", f"{REPO}/git/refs/agent-sync/x")
    client.call("DELETE", f"{REPO}/git/refs/agent-sync/x")
    return head


def objects(client: Recorder, head: str) -> None:
    """Write and read blobs, trees and commits without git."""
    blob = client.call("POST", f"{REPO}/git/blobs", {"content": "x"})["sha"]
    client.get(f"{REPO}/git/blobs/{blob}")
    client.get(f"{REPO}/git/blobs/none")
    entry = {"path": "claim.json", "mode": "100644", "type": "blob", "content": "{}"}
    tree = client.call("POST", f"{REPO}/git/trees", {"tree": [entry]})["sha"]
    client.call("POST", f"{REPO}/git/trees", {"tree": [{"path": "x"}]})
    client.get(f"{REPO}/git/trees/{tree}")
    client.get(f"{REPO}/git/trees/{head}?recursive=1")
    client.call("POST", f"{REPO}/git/commits", {"message": "Claim", "tree": tree, "parents": [head]})
    client.call("POST", f"{REPO}/git/commits", {"message": "Claim", "tree": "0" * 40})


def pulls(client: Recorder, head: str) -> None:
    """Open, review, check and merge a pull request."""
    new = {"title": "Work", "head": "work", "base": "main", "body": "Closes #42"}
    number = client.call("POST", f"{REPO}/pulls", new)["number"]
    for wrong in ({}, {"head": "none"}, {"head": "main"}):
        client.call("POST", f"{REPO}/pulls", new | wrong)
    pull = f"{REPO}/pulls/{number}"
    client.call("POST", f"{pull}/requested_reviewers", {"reviewers": ["mona"]})
    client.get(f"{pull}/requested_reviewers")
    client.get(pull)
    client.act(
        "review",
        pull=number,
        state="CHANGES_REQUESTED",
        by="mona",
        threads=[{"path": "work.txt", "line": 1, "body": "?"}],
    )
    made = client.call("POST", f"{pull}/reviews", {"event": "COMMENT", "body": "Hm"})
    client.call("POST", f"{pull}/reviews", {"event": "APPROVE"})
    client.get(f"{pull}/reviews")
    client.get(f"{pull}/reviews/{made['id']}")
    remark = client.get(f"{pull}/comments")[0]["id"]
    client.call("POST", f"{pull}/comments/{remark}/replies", {"body": "!"})
    checks(client, head)
    for path in (
        f"{pull}/commits",
        f"{pull}/files",
        f"{pull}/merge",
        f"{REPO}/pulls?state=all",
        f"{REPO}/pulls/42",
    ):
        client.get(path)
    client.act("rules", auto_merge=True, required_reviews=5)
    client.act("auto_merge", pull=number, method="squash")
    client.get(pull)
    client.act("auto_merge", pull=number, on=False)
    client.act("rules", auto_merge=False, required_reviews=0)
    client.call("PATCH", pull, {"title": "Works", "state": "closed"})
    client.call("PATCH", pull, {"state": "open"})
    client.call("PUT", f"{pull}/merge", {"sha": "0" * 40})
    client.call("PUT", f"{pull}/merge", {"merge_method": "squash"})
    client.call("PUT", f"{pull}/merge", {"merge_method": "squash"})
    client.get(f"{pull}/merge")
    client.get(pull)
    client.get(f"{REPO}/issues/{number}")


def checks(client: Recorder, head: str) -> None:
    """Report checks and statuses, read them every way there is, and run jobs again."""
    made = client.call("POST", f"{REPO}/check-runs", {"name": "test", "head_sha": head, "status": "in_progress"})
    client.get(f"{REPO}/check-runs/{made['id']}")
    client.call("PATCH", f"{REPO}/check-runs/{made['id']}", {"conclusion": "failure"})
    client.call("POST", f"{REPO}/statuses/{head}", {"context": "lint", "state": "success"})
    client.call("POST", f"{REPO}/statuses/{head}", {"context": "lint", "state": "odd"})
    for path in ("check-runs", "status", "statuses"):
        client.get(f"{REPO}/commits/{head}/{path}")
    client.act("complete_check", sha=head, name="test", conclusion="failure", steps=[{"name": "Test"}],
               annotations=[{"path": "work.txt", "line": 1, "message": "Look"}])  # fmt: skip
    client.get(f"{REPO}/check-runs/{made['id']}/annotations")
    waiting = client.act("add_run", sha=head, workflow="Deploy", conclusion="action_required")["id"]
    client.act("add_run", sha=head, app="renovate")
    suites = client.get(f"{REPO}/commits/{head}/check-suites")["check_suites"]
    client.get(f"{REPO}/check-suites/{suites[0]['id']}")
    client.get(f"{REPO}/check-suites/{suites[0]['id']}/check-runs")
    client.get(f"{REPO}/check-suites/999")
    client.get(f"{REPO}/actions/runs/{waiting}")
    for _ in range(2):
        client.call("POST", f"{REPO}/actions/runs/{waiting}/approve")
    client.act("push_commit", branch="contents", path="docs/a.md", content="A\n")
    runs = client.get(f"{REPO}/actions/runs")["workflow_runs"]
    run = f"{REPO}/actions/runs/{runs[-1]['id']}"
    client.get(run)
    job = client.get(f"{run}/jobs")["jobs"][0]["id"]
    client.get(f"{REPO}/actions/jobs/{job}")
    client.get(f"{REPO}/actions/jobs/{job}/logs")
    client.call("POST", f"{REPO}/actions/jobs/{job}/rerun")
    client.act("complete_check", sha=head, name="test", conclusion="failure")
    client.call("POST", f"{run}/rerun-failed-jobs")
    client.act("complete_check", sha=head, name="test", conclusion="success")
    client.call("POST", f"{run}/rerun")
    client.get(f"{REPO}/commits/{head}/pulls")
    for path in ("README.md", "docs", "docs/a.md", "nope"):
        client.get(f"{REPO}/contents/{path}?ref=contents")


def test_every_answer_is_described(recorder):
    """A tour through all operations meets no answer and no request that GitHub does not describe."""
    everyday(recorder)
    issues(recorder)
    pulls(recorder, refs(recorder))
    assert recorder.problems == []
    assert {route.operation for route in ROUTES} - NOT_DESCRIBED - recorder.seen == set()


def test_every_route_is_described(openapi):
    """Each operation the local GitHub answers exists at GitHub under the same id and method."""
    known = {(entry.method, entry.id) for entry in Contract(openapi).operations}
    ours = {(route.method, route.operation) for route in ROUTES if route.operation not in NOT_DESCRIBED}
    assert ours - known == set()
