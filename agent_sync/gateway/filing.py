"""What work hooks need of issues: convoys, asking a human, and filing what was found; each write happens once."""

from contextlib import closing

from agent_sync.errors import GitHubDown
from agent_sync.gateway.cards import ISSUE
from agent_sync.gateway.transport.asking import ask, thing_at
from agent_sync.gateway.transport.failures import Call
from agent_sync.gateway.transport.line import Line
from agent_sync.gateway.transport.tokens import Area
from agent_sync.system.masking import masked
from agent_sync.task.decision.tasks import Convoy


def convoy(line: Line, issue: int) -> Convoy:
    """Return a parent issue with its sub-issues."""
    call = Call("convoy", line.names | {"issue": issue}, f"reading issue #{issue} and its sub-issues", Area.ISSUES)
    answer = ask(line, call)
    found = thing_at(answer, call, *ISSUE)
    nodes = answer.nodes(*ISSUE, "subIssues")
    children = tuple((int(node["number"]), str(node["title"]), node.get("state") == "OPEN") for node in nodes)
    return Convoy(int(found["number"]), str(found["title"]), found["state"] == "OPEN", children)


def escalate(line: Line, issue: int, *, label: str, comment: str, marker: str) -> None:
    """Put a label on an issue and comment once: whatever is there already is left."""
    attempted = f"asking a human to look at issue #{issue}"
    call = Call("escalation", line.names | {"issue": issue}, attempted, Area.ISSUES)
    answer = ask(line, call)
    found = thing_at(answer, call, *ISSUE)
    if label.casefold() not in {str(node.get("name")).casefold() for node in answer.nodes(*ISSUE, "labels")}:
        _label(line, issue, label, attempted)
    if not any(marker in str(node.get("body")) for node in answer.nodes(*ISSUE, "comments")):
        values = {"issue": found["id"], "body": f"{masked(comment)}\n\n{marker}"}
        ask(line, Call("comment", values, attempted, Area.ISSUES, is_write=True))


def file_issue(line: Line, title: str, body: str, *, marker: str) -> int:
    """Open an issue and return its number; one that carries the marker is the one that is wanted."""
    call = Call("newest_issues", dict(line.names), "looking whether the issue was filed already", Area.ISSUES)
    answer = ask(line, call)
    for node in answer.nodes("repository", "issues"):
        if marker in str(node.get("body")):
            return int(node["number"])
    texts = {"title": masked(title), "body": f"{masked(body)}\n\n{marker}"}
    values = {"repository": thing_at(answer, call, "repository")["id"]} | texts
    order = Call("file_issue", values, "filing an issue", Area.ISSUES, is_write=True)
    number = ask(line, order).at("filed", "issue", "number")
    if not isinstance(number, int):
        raise GitHubDown("GitHub does not say whether it was done.", maybe_applied=True, attempted=order.attempted)
    return number


def _label(line: Line, issue: int, label: str, attempted: str) -> None:
    """Put a label on by name: REST makes one that the repository does not have yet."""
    from agent_sync.gateway.transport.rest import Rest

    call = Call("", attempted=attempted, area=Area.ISSUES, is_write=True)
    with closing(Rest(line)) as rest:
        rest.write(f"/repos/{line.repository.full_name}/issues/{issue}/labels", {"labels": [label]}, call)
