"""Every field the schema promises can be read from a world that has everything."""

from datetime import date

import pytest
from graphql import GraphQLNonNull, get_named_type, is_composite_type, is_interface_type, is_object_type, is_union_type

from agent_sync.emulator.graphql.fields.queues import EVENTS
from agent_sync.emulator.graphql.schema import schema
from agent_sync.emulator.graphql.types import type_name
from agent_sync.emulator.operations import boards, issue_fields, people
from agent_sync.emulator.operations.branches import link_branch
from agent_sync.emulator.operations.changes import NewValue, record
from agent_sync.emulator.operations.merges.queueing import enqueue
from agent_sync.emulator.operations.reviews import request_reviewers
from agent_sync.emulator.world.boards import FieldType, Iteration
from agent_sync.emulator.world.people import Role
from agent_sync.emulator.world.pulls import AutoMerge, MergeMethod

ARGUMENTS = {
    "name": '"Status"', "number": "42", "login": '"octo"', "owner": '"octo"', "qualifiedName": '"main"',
    "refPrefix": '"refs/"', "url": '"http://x/octo/demo/issues/42"', "query": '"repo:octo/demo"',
    "path": '"README.md"', "type": "ISSUE", "capabilities": "[CAN_BE_ASSIGNED]", "headRef": '"main"',
}  # fmt: skip
SPECIAL = {
    "repository(name)": '"demo"', "pullRequest(number)": "45", "projectV2(number)": "1",
    "label(name)": '"bug"', "context(name)": '"lint"',
}  # fmt: skip
# Types that nothing in this world is of; fields that lead to them are null or empty.
ABSENT = {
    "IssueFieldDate", "IssueFieldDateValue", "IssueFieldNumber", "IssueFieldNumberValue",
    "IssueFieldText", "IssueFieldTextValue", "Mannequin",
    "Milestone", "Organization", "Project", "ProjectCard", "ProjectColumn",
    "ProjectV2ItemFieldMilestoneValue", "Team",
}  # fmt: skip
PULL, VALUES = "pullRequest(number: 45)", "projectItems(first: 1) { nodes { fieldValues(first: 50) { nodes"
CHECK = f"{PULL} {{ statusCheckRollup {{ contexts(first: 1) {{ nodes {{ ... on CheckRun"
# Where the things are that no id leads to; the braces are closed when the road is taken.
ROADS = [
    ("StatusCheckRollup", f"{PULL} {{ statusCheckRollup"),
    ("Status", f"{PULL} {{ commits(first: 1) {{ nodes {{ commit {{ status"),
    ("Commit", "defaultBranchRef { target { ... on Commit"),
    ("Ref", "defaultBranchRef"),
    ("GitActor", "defaultBranchRef { target { ... on Commit { author"),
    ("ProjectV2ItemFieldValue", f"issue(number: 42) {{ {VALUES}"),
    ("ProjectV2ItemFieldValue", f"{PULL} {{ {VALUES}"),
    ("ReactionGroup", f"{PULL} {{ reactionGroups"),
    ("CheckSuite", f"{CHECK} {{ checkSuite"),
    ("CheckAnnotationSpan", f"{CHECK} {{ annotations(first: 1) {{ nodes {{ location"),
    ("CheckAnnotationConnection", f"{CHECK} {{ annotations(first: 1)"),
    ("CheckStepConnection", f"{CHECK} {{ steps(first: 1)"),
    ("CheckSuiteConnection", f"{PULL} {{ commits(first: 1) {{ nodes {{ commit {{ checkSuites(first: 1)"),
    ("PullRequestTimelineItems", f"{PULL} {{ timelineItems(first: 50) {{ nodes"),
    ("MergeQueue", 'mergeQueue(branch: "main")'),
    ("Workflow", f"{CHECK} {{ checkSuite {{ workflowRun {{ workflow"),
    ("ReviewRequest", f"{PULL} {{ reviewRequests(first: 1) {{ nodes"),
    (
        "ProjectV2IterationFieldConfiguration",
        'projectV2(number: 1) { field(name: "A ITERATION") { ... on ProjectV2IterationField { configuration',
    ),
]


def selection(kind, depth):
    """Return everything a type offers, and what hangs on it; pages are no level of their own."""
    if is_union_type(kind) or is_interface_type(kind):
        possible = schema().get_possible_types(kind) if depth > 0 else ()
        parts = [f"... on {part.name} {{ {selection(part, depth)} }}" for part in possible]
        return " ".join(["__typename", *parts])
    through = depth + 1 if kind.name.endswith(("Connection", "Edge")) else depth
    return " ".join(["__typename", *(field(name, entry, through) for name, entry in kind.fields.items())])


def field(name, entry, depth):
    """Return one field with what it needs, or nothing below the last level."""
    kind = get_named_type(entry.type)
    if not is_composite_type(kind):
        return f"{name}{given(name, entry)}"
    if depth == 0 or (name in {"node", "nodes", "organization"} and entry.args):
        return ""
    return f"{name}{given(name, entry)} {{ {selection(kind, depth - 1)} }}"


def given(name, entry):
    """Return the arguments a field cannot do without."""
    found = [
        f"{argument}: {SPECIAL.get(f'{name}({argument})', ARGUMENTS.get(argument))}"
        for argument, kind in entry.args.items()
        if isinstance(kind.type, GraphQLNonNull)
    ]
    found += ["first: 2"] if "first" in entry.args else []
    found += ['expression: "main"'] if "expression" in entry.args else []
    return f"({', '.join(found)})" if found else ""


def met(value):
    """Return the names of all types in an answer."""
    if isinstance(value, list):
        return set().union(*map(met, value))
    if not isinstance(value, dict):
        return set()
    return ({value["__typename"]} if "__typename" in value else set()).union(*map(met, value.values()))


@pytest.fixture
def full(context):
    """Return a context in front of a world with one of everything."""
    world, octo = context.world, context.world.viewer("any")
    project, repository = world.project("octo", 1), world.repository("octo", "demo")
    number = context.pull()["number"]
    pull = repository.conversations[number]
    context.act(
        "add_check", pull=number, name="test", conclusion="success", required=True,
        steps=[{"name": "Test", "conclusion": "success"}],
        annotations=[{"path": "fix.txt", "line": 1, "message": "Look"}],
    )  # fmt: skip
    context.act("add_check", pull=number, name="build", status="in_progress")
    context.act("add_status", pull=number, context="lint", state="success")
    thread = {"path": "fix.txt", "line": 1, "body": "Why?"}
    context.act("review", pull=number, state="APPROVED", body="Good", threads=[thread], by="mona")
    context.act("comment", issue=42, body="On it")
    context.act("comment", issue=number, body="Look")
    context.act("sub_issue", issue=43, parent=42)
    request_reviewers(world, octo, pull, [world.add_user("hubot")])
    bot = world.add_user("helper[bot]")
    context.world.repository("octo", "demo").roles[bot.login] = Role.WRITE
    people.assign(world, octo, context.issue(), ["octo", "helper"])
    people.set_labels(world, octo, context.issue(), ["bug"])
    boards.add_item(world, octo, project, pull)
    boards.add_draft(world, octo, project, title="Idea")
    sprint = Iteration("a1b2c3d4", "Sprint 1", date(2026, 1, 5), 14)
    for kind, value in (
        (FieldType.NUMBER, NewValue(number=3)),
        (FieldType.DATE, NewValue(day=date(2026, 1, 1))),
        (FieldType.TEXT, NewValue(text="x")),
        (FieldType.ITERATION, NewValue(iteration_id=sprint.id)),
    ):
        entry = boards.add_field(world, project, f"A {kind}", kind, iterations=[sprint])
        boards.set_value(world, octo, context.issue().items[0], entry, value=value)
    context.act("rules", merge_queue=True, auto_merge=True)
    enqueue(world, octo, pull)
    pull.auto_merge = AutoMerge(octo.user, MergeMethod.SQUASH, world.clock.now())
    for kind in EVENTS:
        record(world, pull, kind, by=octo.user, subject="main", commit=pull.head_sha, previous=pull.head_sha)
    rank = issue_fields.add_issue_field(world, octo.user, "Rank", ["High", "Low"])
    boards.add_field(world, project, "Rank", FieldType.SINGLE_SELECT, options=["High", "Low"], issue_field=rank)
    context.act("push_commit", branch="main", path=".github/pull_request_template.md")
    home = world.repository("octo", "demo")
    for issue in home.issues:
        link_branch(world, octo, issue, home, name=f"for-{issue.number}", sha=pull.head_sha)
        issue_fields.set_issue_field(world, octo, issue, rank, rank.options[0])
    issue_fields.set_issue_type(world, octo, context.issue(), issue_fields.add_issue_type(world, octo.user, "Bug"))
    return context


def nodes(full):
    """Return the things that can be asked for by id, one of each kind."""
    issue, pull = full.issue(), full.issue(45)
    board, reported = issue.items[0].project, issue.repository
    found = [
        issue.repository, issue, pull, issue.comments[0], issue.labels[0], issue.items[0], board,
        pull.reviews[0], pull.threads[0], pull.threads[0].comments[0], full.world.user("octo"), *board.fields,
        full.world.user("helper[bot]"), *full.world.issue_fields, *full.world.issue_types,
        *reported.checks[pull.head_sha], *reported.statuses[pull.head_sha], *reported.runs, *reported.queue,
        *(item.content for item in board.items.values()),
    ]  # fmt: skip
    return {type_name(entry): entry.id for entry in found}


def told(full, query, **variables):
    """Return the types of an answer in which nothing went wrong but what is not there."""
    answer = full.answer(query, **variables)
    wrong = [error for error in answer.get("errors", []) if error["type"] != "NOT_FOUND"]
    assert wrong == []
    return met(answer["data"])


def test_everything_is_answered(full):
    """Every field of every type is read at least once, and each type is met that the world can hold."""
    found = told(full, "{ " + selection(schema().query_type, 1) + " }")
    for name, node_id in nodes(full).items():
        part = f"... on {name} {{ {selection(schema().type_map[name], 1)} }}"
        found |= told(full, f"query($id: ID!) {{ node(id: $id) {{ {part} }} }}", id=node_id)
    for name, road in ROADS:
        query = f'{{ repository(owner: "octo", name: "demo") {{ {road} {{ {selection(schema().type_map[name], 1)}'
        found |= told(full, query + "}" * (query.count("{") - query.count("}")))
    objects = {kind.name for kind in schema().type_map.values() if is_object_type(kind)}
    expected = {name for name in objects if not name.startswith("__") and not name.endswith("Payload")}
    assert expected - found - {"Query", "Mutation"} == ABSENT
