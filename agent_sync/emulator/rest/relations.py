"""Sub-issues and dependencies between issues."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import issues, relations
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.issues import ISSUE
from agent_sync.emulator.rest.shapes.issues import issue_shape
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.refusal import invalid, not_found

BLOCKED_BY = f"{ISSUE}/dependencies/blocked_by"


def _issue(call: Call) -> Issue:
    return issues.find_issue(call.repository, call.number("issue_number"))


def _by_id(call: Call, number: int) -> Issue:
    for repository in call.world.repositories.values():
        for issue in repository.issues:
            if issue.identity.number == number:
                return issue
    raise not_found()


def _named(call: Call, name: str) -> Issue:
    number = call.body.get(name)
    if not isinstance(number, int):
        raise invalid("Issue", name, code="missing_field")
    return _by_id(call, number)


def _list(call: Call, found: list[Issue]) -> Answer:
    return call.page(found, lambda issue: issue_shape(call.links, issue))


def sub_issues(call: Call) -> Answer:
    """Answer the parts of an issue."""
    return _list(call, _issue(call).sub_issues)


def add_sub_issue(call: Call) -> Answer:
    """Make an issue a part of another."""
    parent, child = _issue(call), _named(call, "sub_issue_id")
    replace = bool(call.body.get("replace_parent", False))
    relations.add_sub_issue(call.world, call.viewer, parent, child, replace_parent=replace)
    return json_answer(201, issue_shape(call.links, parent))


def remove_sub_issue(call: Call) -> Answer:
    """Take a part out of an issue."""
    relations.remove_sub_issue(call.world, call.viewer, _issue(call), _named(call, "sub_issue_id"))
    return json_answer(200, issue_shape(call.links, _issue(call)))


def parent(call: Call) -> Answer:
    """Answer the issue another is a part of."""
    found = _issue(call).parent
    if found is None:
        raise not_found()
    return json_answer(200, issue_shape(call.links, found))


def blocked_by(call: Call) -> Answer:
    """Answer what an issue waits for."""
    return _list(call, _issue(call).blocked_by)


def blocking(call: Call) -> Answer:
    """Answer what waits for an issue."""
    return _list(call, _issue(call).blocking)


def add_blocked_by(call: Call) -> Answer:
    """Say that an issue waits for another."""
    relations.add_blocked_by(call.world, call.viewer, _issue(call), _named(call, "issue_id"))
    return json_answer(201, issue_shape(call.links, _issue(call)))


def remove_blocked_by(call: Call) -> Answer:
    """Say that an issue no longer waits for another."""
    relations.remove_blocked_by(call.world, call.viewer, _issue(call), _by_id(call, call.number("issue_id")))
    return json_answer(200, issue_shape(call.links, _issue(call)))


ROUTES = (
    ("GET", f"{ISSUE}/sub_issues", "issues/list-sub-issues", sub_issues),
    ("POST", f"{ISSUE}/sub_issues", "issues/add-sub-issue", add_sub_issue),
    ("DELETE", f"{ISSUE}/sub_issue", "issues/remove-sub-issue", remove_sub_issue),
    ("GET", f"{ISSUE}/parent", "issues/get-parent", parent),
    ("GET", BLOCKED_BY, "issues/list-dependencies-blocked-by", blocked_by),
    ("POST", BLOCKED_BY, "issues/add-blocked-by-dependency", add_blocked_by),
    ("DELETE", f"{BLOCKED_BY}/{{issue_id}}", "issues/remove-dependency-blocked-by", remove_blocked_by),
    ("GET", f"{ISSUE}/dependencies/blocking", "issues/list-dependencies-blocking", blocking),
)
