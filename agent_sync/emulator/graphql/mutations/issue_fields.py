"""Mutations of what an issue holds in the fields of its organisation, and of its type."""

from typing import Any

from agent_sync.emulator.graphql.mutations.found import Payload, found
from agent_sync.emulator.graphql.request import Request
from agent_sync.emulator.graphql.tables import Table
from agent_sync.emulator.operations import issue_fields
from agent_sync.emulator.world.conversations import Issue
from agent_sync.emulator.world.issue_fields import IssueField, IssueFieldOption, IssueType


def set_value(request: Request, *, issue_id: str, issue_fields: list[dict[str, Any]]) -> Payload:
    """Set or empty fields of an issue."""
    issue = found(request, issue_id, Issue)
    for entry in issue_fields:
        _set_one(request, issue, entry)
    return {"issue": issue, "issueFieldValues": list(issue.field_values.values())}


def _set_one(request: Request, issue: Issue, entry: dict[str, Any]) -> None:
    field, chosen = found(request, entry["fieldId"], IssueField), entry.get("singleSelectOptionId")
    option = None if entry.get("delete") or chosen is None else found(request, chosen, IssueFieldOption)
    issue_fields.set_issue_field(request.world, request.viewer, issue, field, option)


def set_type(request: Request, *, issue_id: str, issue_type_id: str | None = None) -> Payload:
    """Give an issue a type, or take it away."""
    issue = found(request, issue_id, Issue)
    chosen = found(request, issue_type_id, IssueType) if issue_type_id else None
    issue_fields.set_issue_type(request.world, request.viewer, issue, chosen)
    return {"issue": issue}


MUTATIONS: Table = {"setIssueFieldValue": set_value, "updateIssueIssueType": set_type}
