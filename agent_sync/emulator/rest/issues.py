"""Issues: list, read, create, edit; their assignees and labels."""

from collections.abc import Iterable

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import issues, people, pulls
from agent_sync.emulator.rest.call import Call, newest_first
from agent_sync.emulator.rest.shapes.issues import event_shape, issue_shape, label_shape
from agent_sync.emulator.world.conversations import Conversation, Issue
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import invalid

ISSUES = "/repos/{owner}/{repo}/issues"
ISSUE = f"{ISSUES}/{{issue_number}}"
LABELS = "/repos/{owner}/{repo}/labels"


def conversation(call: Call) -> Conversation:
    """Return the issue or pull request the path names."""
    return issues.find_conversation(call.repository, call.number("issue_number"))


def list_issues(call: Call) -> Answer:
    """Answer a page of issues and pull requests, newest first."""
    found = list(_filtered(call, call.repository.conversations.values()))
    ordered = newest_first(found, lambda entry: (entry.created_at, entry.number), call)
    if call.asked.query.get("sort") == "updated":
        ordered = newest_first(found, lambda entry: (entry.updated_at, entry.number), call)
    return call.page(ordered, lambda entry: issue_shape(call.links, entry))


def _filtered(call: Call, entries: Iterable[Conversation]) -> Iterable[Conversation]:
    query = call.asked.query
    state, assignee = query.get("state", "open"), query.get("assignee")
    labels = {name.lower() for name in query.get("labels", "").split(",") if name}
    for entry in entries:
        holders = {user.login.lower() for user in entry.assignees}
        wrong_holder = assignee not in {None, "*"} and (assignee or "").lower() not in (holders or {"none"})
        if (
            state in {"all", entry.state}
            and not wrong_holder
            and (assignee != "*" or holders)
            and labels <= {label.name.lower() for label in entry.labels}
            and query.get("creator", entry.author.login).lower() == entry.author.login.lower()
        ):
            yield entry


def get_issue(call: Call) -> Answer:
    """Answer one issue."""
    return json_answer(200, issue_shape(call.links, conversation(call)))


def create_issue(call: Call) -> Answer:
    """Open an issue."""
    created = issues.create_issue(
        call.world, call.viewer, call.repository, title=call.text("Issue", "title"),
        body=call.optional_text("Issue", "body"), labels=tuple(call.texts("labels")),
        assignees=tuple(call.texts("assignees")),
    )  # fmt: skip
    return json_answer(201, issue_shape(call.links, created))


def update_issue(call: Call) -> Answer:
    """Change an issue: text, people, labels, and last whether it is open."""
    entry, world, viewer = conversation(call), call.world, call.viewer
    if call.body.keys() & {"title", "body"}:
        title, body = call.optional_text("Issue", "title"), call.optional_text("Issue", "body")
        issues.edit_text(world, viewer, entry, title=title, body=body)
    if "assignees" in call.body:
        people.replace_assignees(world, viewer, entry, call.texts("assignees"))
    if "labels" in call.body:
        _replace_labels(call, entry)
    if "state" in call.body:
        _set_state(call, entry)
    return json_answer(200, issue_shape(call.links, entry))


def _set_state(call: Call, entry: Conversation) -> None:
    state, reason = call.body["state"], call.optional_text("Issue", "state_reason")
    world, viewer = call.world, call.viewer
    match state, entry:
        case "closed", Issue():
            issues.close_issue(world, viewer, entry, reason=reason)
        case "open", Issue():
            issues.reopen_issue(world, viewer, entry)
        case "closed", PullRequest():
            pulls.close_pull(world, viewer, entry)
        case "open", PullRequest():
            pulls.reopen_pull(world, viewer, entry)
        case _:
            raise invalid("Issue", "state")


def _replace_labels(call: Call, entry: Conversation) -> None:
    wanted = call.texts("labels")
    kept = {name.lower() for name in wanted}
    gone = [label.name for label in entry.labels if label.name.lower() not in kept]
    people.remove_labels(call.world, call.viewer, entry, gone)
    people.set_labels(call.world, call.viewer, entry, wanted)


def add_assignees(call: Call) -> Answer:
    """Add assignees."""
    people.assign(call.world, call.viewer, conversation(call), call.texts("assignees"))
    return json_answer(201, issue_shape(call.links, conversation(call)))


def remove_assignees(call: Call) -> Answer:
    """Take assignees off."""
    people.unassign(call.world, call.viewer, conversation(call), call.texts("assignees"))
    return json_answer(200, issue_shape(call.links, conversation(call)))


def _labels_answer(call: Call) -> Answer:
    entry = conversation(call)
    return call.page(entry.labels, lambda label: label_shape(call.links, call.repository, label))


def list_labels(call: Call) -> Answer:
    """Answer the labels of an issue."""
    return _labels_answer(call)


def add_labels(call: Call) -> Answer:
    """Put labels on."""
    people.set_labels(call.world, call.viewer, conversation(call), call.texts("labels"))
    return _labels_answer(call)


def set_labels(call: Call) -> Answer:
    """Make the labels exactly these."""
    _replace_labels(call, conversation(call))
    return _labels_answer(call)


def remove_all_labels(call: Call) -> Answer:
    """Take every label off."""
    entry = conversation(call)
    people.remove_labels(call.world, call.viewer, entry, [label.name for label in entry.labels])
    return Answer(204)


def remove_label(call: Call) -> Answer:
    """Take one label off."""
    label = people.find_label(call.repository, call.params["name"])
    people.remove_labels(call.world, call.viewer, conversation(call), [label.name])
    return _labels_answer(call)


def events(call: Call) -> Answer:
    """Answer the history of an issue."""
    entry = conversation(call)
    return call.page(entry.events, lambda event: event_shape(call.links, entry, event))


def repository_labels(call: Call) -> Answer:
    """Answer the labels of a repository."""
    found = list(call.repository.labels.values())
    return call.page(found, lambda label: label_shape(call.links, call.repository, label))


def create_label(call: Call) -> Answer:
    """Create a label."""
    label = people.add_label(
        call.world, call.viewer, call.repository, call.text("Label", "name"),
        color=call.optional_text("Label", "color") or "ededed",
        description=call.optional_text("Label", "description") or "",
    )  # fmt: skip
    return json_answer(201, label_shape(call.links, call.repository, label))


def get_label(call: Call) -> Answer:
    """Answer one label."""
    label = people.find_label(call.repository, call.params["name"])
    return json_answer(200, label_shape(call.links, call.repository, label))


ROUTES = (
    ("GET", ISSUES, "issues/list-for-repo", list_issues),
    ("POST", ISSUES, "issues/create", create_issue),
    ("GET", ISSUE, "issues/get", get_issue),
    ("PATCH", ISSUE, "issues/update", update_issue),
    ("POST", f"{ISSUE}/assignees", "issues/add-assignees", add_assignees),
    ("DELETE", f"{ISSUE}/assignees", "issues/remove-assignees", remove_assignees),
    ("GET", f"{ISSUE}/labels", "issues/list-labels-on-issue", list_labels),
    ("POST", f"{ISSUE}/labels", "issues/add-labels", add_labels),
    ("PUT", f"{ISSUE}/labels", "issues/set-labels", set_labels),
    ("DELETE", f"{ISSUE}/labels", "issues/remove-all-labels", remove_all_labels),
    ("DELETE", f"{ISSUE}/labels/{{name:path}}", "issues/remove-label", remove_label),
    ("GET", f"{ISSUE}/events", "issues/list-events", events),
    ("GET", LABELS, "issues/list-labels-for-repo", repository_labels),
    ("POST", LABELS, "issues/create-label", create_label),
    ("GET", f"{LABELS}/{{name:path}}", "issues/get-label", get_label),
)
