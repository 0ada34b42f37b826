import pytest
from graphql import parse
from schema_subset import differences

PUBLISHED = """
interface Node { id: ID! }
type Query { issues(first: Int!, query: String = "", states: [State!]): [Issue!] }
type Issue implements Node { id: ID! title: String! parent: Issue }
type Draft { id: ID! }
union Content = Issue | Draft
enum State { OPEN CLOSED }
input Close { id: ID! reason: String note: String = "x" }
"""

LIES = {
    "type": ("type Made { id: ID! }", "Made: not in the published schema"),
    "kind": ("scalar Issue", "Issue: is object_type_definition, not scalar_type_definition"),
    "field": ("type Issue { body: String }", "Issue.body: no such field"),
    "nullability": ("type Issue { title: String }", "Issue.title: type String, published String!"),
    "result type": ("type Issue { parent: Draft }", "Issue.parent: type Draft, published Issue"),
    "interface": ("type Draft implements Node { id: ID! }", "Draft: interface Node is not published"),
    "argument": (
        "type Query { issues(first: Int!, after: String): [Issue!] }",
        "Query.issues(after): no such input",
    ),
    "argument type": (
        "type Query { issues(first: Int): [Issue!] }",
        "Query.issues(first): Int, published Int!",
    ),
    "argument default": (
        'type Query { issues(first: Int!, query: String = "y"): [Issue!] }',
        'Query.issues(query): String = "y", published String = ""',
    ),
    "argument left out": (
        'type Query { issues(query: String = ""): [Issue!] }',
        "Query.issues(first): required by the published schema, missing here",
    ),
    "enum value": ("enum State { OPEN LOST }", "State: value LOST is not published"),
    "union member": ("union Content = Issue | Query", "Content: member Query is not published"),
    "input field": ("input Close { id: ID! why: String }", "Close(why): no such input"),
    "input type": ("input Close { id: ID! reason: Int }", "Close(reason): Int, published String"),
    "input left out": (
        "input Close { reason: String }",
        "Close(id): required by the published schema, missing here",
    ),
}


@pytest.mark.parametrize(("ours", "said"), LIES.values(), ids=LIES.keys())
def test_every_kind_of_lie_is_caught(ours, said):
    """Each way of claiming more than the published schema gives exactly one sentence."""
    assert differences(parse(ours), parse(PUBLISHED)) == [said]


def test_less_than_published_is_no_lie():
    """Leaving out types, fields, members, values and optional inputs is what a subset is."""
    ours = """
    type Query { issues(first: Int!): [Issue!] }
    type Issue { title: String! }
    union Content = Issue
    enum State { OPEN }
    input Close { id: ID! }
    """
    assert differences(parse(ours), parse(PUBLISHED)) == []
