"""Issue fields and issue types of organisations, and what an issue holds in them."""

from agent_sync.emulator.graphql.tables import Table, constant
from agent_sync.emulator.operations.issue_fields import fields_of, types_of

RESOLVERS: dict[str, Table] = {
    "Issue": {
        "issueFieldValues": lambda issue, _: list(issue.field_values.values()),
        "issueType": lambda issue, _: issue.type,
    },
    "Organization": {
        "issueFields": lambda owner, request: fields_of(request.world, owner),
        "issueTypes": lambda owner, request: types_of(request.world, owner),
    },
    "Repository": {
        "issueFields": lambda repository, request: fields_of(request.world, repository.owner),
        "issueTypes": lambda repository, request: types_of(request.world, repository.owner),
    },
    "IssueFieldSingleSelect": {"dataType": constant("SINGLE_SELECT"), "visibility": constant("ALL")},
    "IssueFieldSingleSelectValue": {
        "color": lambda value, _: value.option.color,
        "description": lambda value, _: value.option.description,
        "name": lambda value, _: value.option.name,
        "optionId": lambda value, _: value.option.id,
        "value": lambda value, _: value.option.name,
    },
    "ProjectV2ItemIssueFieldValue": {"issueFieldValue": lambda value, _: value.item.issue_value(value.field)},
}
