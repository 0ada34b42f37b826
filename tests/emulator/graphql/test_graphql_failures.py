import pytest

COMMENT = """mutation($id: ID!) {
  one: addComment(input: { subjectId: $id, body: "first" }) { commentEdge { node { body } } }
  two: addComment(input: { subjectId: "nothing", body: "second" }) { commentEdge { node { body } } }
  three: addComment(input: { subjectId: $id, body: "third" }) { commentEdge { node { body } } }
}"""

MISSING = {
    "repository": (
        '{ repository(owner: "octo", name: "nope") { id } }',
        ["repository"],
        "Could not resolve to a Repository with the name 'octo/nope'.",
    ),
    "issue": (
        '{ repository(owner: "octo", name: "demo") { issue(number: 999) { id } } }',
        ["repository", "issue"],
        "Could not resolve to an Issue with the number of 999.",
    ),
    "pull request": (
        '{ repository(owner: "octo", name: "demo") { pullRequest(number: 42) { id } } }',
        ["repository", "pullRequest"],
        "Could not resolve to a PullRequest with the number of 42.",
    ),
    "either": (
        '{ repository(owner: "octo", name: "demo") { issueOrPullRequest(number: 7) { __typename } } }',
        ["repository", "issueOrPullRequest"],
        "Could not resolve to an issue or pull request with the number of 7.",
    ),
    "user": (
        '{ user(login: "nobody") { id } }',
        ["user"],
        "Could not resolve to a User with the login of 'nobody'.",
    ),
    "organization": (
        '{ organization(login: "octo") { id } }',
        ["organization"],
        "Could not resolve to an Organization with the login of 'octo'.",
    ),
    "project": (
        '{ user(login: "octo") { projectV2(number: 9) { id } } }',
        ["user", "projectV2"],
        "Could not resolve to a ProjectV2 with the number 9.",
    ),
    "node": (
        '{ node(id: "I_x") { id } }',
        ["node"],
        "Could not resolve to a node with the global id of 'I_x'",
    ),
}


@pytest.mark.parametrize(("query", "path", "message"), MISSING.values(), ids=MISSING.keys())
def test_not_found(context, query, path, message):
    """What does not exist is null with a typed error at its path, in GitHub's words."""
    answer = context.answer(query)
    assert list(answer["errors"][0]) == ["type", "path", "locations", "message"]
    assert answer["errors"] == [
        {"type": "NOT_FOUND", "path": path, "locations": answer["errors"][0]["locations"], "message": message}
    ]
    at = answer["data"]
    for step in path:
        at = at[step]
    assert at is None


def test_an_unknown_owner_is_only_null(context):
    """The owner interface has no error for a login that nobody has."""
    assert context.data('{ repositoryOwner(login: "nobody") { id } }') == {"repositoryOwner": None}


def test_partial_data(context):
    """One missing part leaves the others as they are."""
    answer = context.answer('{ viewer { login } user(login: "octo") { login } organization(login: "octo") { login } }')
    assert answer["data"] == {"viewer": {"login": "octo"}, "user": {"login": "octo"}, "organization": None}
    assert [error["path"] for error in answer["errors"]] == [["organization"]]


def test_one_missing_node_among_several(context):
    """Among several nodes, a missing one is null with an error at its place."""
    answer = context.answer("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=[context.issue().id, "gone"])
    assert answer["data"] == {"nodes": [{"id": context.issue().id}, None]}
    assert (answer["errors"][0]["path"], answer["errors"][0]["type"]) == (["nodes", 1], "NOT_FOUND")


def test_later_mutations_run_after_a_failure(context):
    """Aliased mutations run in order, are not undone, and go on after one has failed."""
    answer = context.answer(COMMENT, id=context.issue().id)
    assert answer["data"]["two"] is None
    assert [error["path"] for error in answer["errors"]] == [["two"]]
    assert [comment.body for comment in context.issue().comments] == ["first", "third"]


def test_a_reading_token_refuses_every_mutation(context):
    """A token that may only read gets FORBIDDEN for each mutation, and nothing happens."""
    answer = context.answer(COMMENT, "read-only", id=context.issue().id)
    assert answer["data"] == {"one": None, "two": None, "three": None}
    assert {(error["type"], error["message"]) for error in answer["errors"]} == {
        ("FORBIDDEN", "Resource not accessible by personal access token")
    }
    assert context.issue().comments == []


def test_a_reading_token_reads(context):
    """A token that may only read sees boards and issues, and that it may not change them."""
    query = '{ repository(owner: "octo", name: "demo") { issue(number: 42) { title viewerCanUpdate } } }'
    assert context.data(query, "read-only")["repository"]["issue"]["viewerCanUpdate"] is False


SCOPED = {
    "board": ('{ viewer { login } user(login: "octo") { projectV2(number: 1) { id } } }', "['read:project']"),
    "cards": (
        '{ repository(owner: "octo", name: "demo") { issue(number: 42) { projectItems { totalCount } } } }',
        "['read:project']",
    ),
    "by id": ('{ node(id: "x") { ... on ProjectV2Item { id } } }', "['read:project']"),
    "mutation": (
        'mutation { deleteProjectV2Item(input: { projectId: "x", itemId: "y" }) { deletedItemId } }',
        "['project']",
    ),
}


@pytest.mark.parametrize(("query", "scope"), SCOPED.values(), ids=SCOPED.keys())
def test_boards_need_a_scope(context, query, scope):
    """A token without the scope gets no data at all, and is told which scope it lacks."""
    answer = context.answer(query, "no-project-scope")
    assert answer["data"] is None
    assert {error["type"] for error in answer["errors"]} == {"INSUFFICIENT_SCOPES"}
    assert scope in answer["errors"][0]["message"]
    assert answer["errors"][0]["locations"]


def test_a_card_needs_the_scope_even_by_its_bare_id(context):
    """An id alone does not show that it is a card; the answer still refuses."""
    card = context.issue().items[0].id
    error = context.error("query($id: ID!) { node(id: $id) { id } }", "no-project-scope", id=card)
    assert (error["type"], error["path"]) == ("INSUFFICIENT_SCOPES", ["node"])


def test_parts_left_out_need_no_scope(context):
    """What a condition leaves out of the document is not asked for."""
    query = """query($board: Boolean = false) {
      viewer { login } user(login: "octo") @include(if: $board) { projectV2(number: 1) { id } }
    }"""
    assert context.data(query, "no-project-scope") == {"viewer": {"login": "octo"}}


INVALID = {
    "syntax": "{ viewer { login }",
    "field": "{ viewer { shoeSize } }",
    "argument": '{ user(name: "octo") { id } }',
    "variable": "query($n: Int!) { viewer { login } }",
}


@pytest.mark.parametrize("query", INVALID.values(), ids=INVALID.keys())
def test_invalid_documents(context, query):
    """A document that is not valid gets errors with places, and no data."""
    answer = context.answer(query)
    assert "data" not in answer
    assert answer["errors"][0]["locations"]


def test_an_unknown_field_has_githubs_code(context):
    """A field GitHub does not have is named in the error's extensions, as on GitHub."""
    error = context.error("{ viewer { shoeSize } }")
    assert error["message"] == "Field 'shoeSize' doesn't exist on type 'User'"
    assert error["extensions"] == {"code": "undefinedField", "typeName": "User", "fieldName": "shoeSize"}


def test_an_unknown_argument_has_githubs_code(context):
    """An argument GitHub does not have is named in the error's extensions."""
    error = context.answer('{ user(login: "octo", age: 3) { id } }')["errors"][0]
    assert error["message"] == "Field 'user' doesn't accept argument 'age'"
    assert error["extensions"]["code"] == "argumentNotAccepted"


def test_a_missing_variable(context):
    """A variable without a value is refused before anything runs."""
    answer = context.answer("query($login: String!) { user(login: $login) { id } }")
    assert "data" not in answer
    assert "login" in answer["errors"][0]["message"]


def test_no_document(context):
    """An empty body is told what it lacks."""
    assert "query attribute" in context.answer("  ")["errors"][0]["message"]


def test_an_unnamed_choice(context):
    """Of several operations, one has to be named."""
    answer = context.answer("query a { viewer { login } } query b { viewer { login } }")
    assert answer["errors"][0]["message"] == "An operation name is required"


def test_far_too_many_nodes(context):
    """A document that could return more than half a million nodes is refused before it runs."""
    query = """{ repository(owner: "octo", name: "demo") { issues(first: 100) { nodes {
      comments(first: 100) { nodes { issue { labels(first: 100) { nodes { name } } } } } } } } }"""
    answer = context.answer(query)
    assert answer["errors"][0]["type"] == "MAX_NODE_LIMIT_EXCEEDED"
    assert "1,010,100 possible nodes" in answer["errors"][0]["message"]


def test_the_cost_of_nested_pages(context):
    """Points and nodes follow GitHub's formula: pages inside pages multiply."""
    query = """{ repository(owner: "octo", name: "demo") { issues(first: 100) { nodes {
      labels(first: 60) { nodes { name } } comments(first: 10) { nodes { id } } } } }
      rateLimit { cost nodeCount limit } }"""
    assert context.data(query)["rateLimit"] == {"cost": 2, "nodeCount": 7100, "limit": 5000}


def test_documents_of_the_real_command_line_pass(context):
    """Two types that answer one name differently are no error, although the strict rule says so."""
    query = """{ repository(owner: "octo", name: "demo") { issueOrPullRequest(number: 42) {
      ... on Issue { state } ... on PullRequest { state } } } }"""
    assert context.data(query)["repository"]["issueOrPullRequest"] == {"state": "OPEN"}


def test_introspection(context):
    """A client may ask which fields a type has."""
    data = context.data('{ __type(name: "PullRequest") { fields(includeDeprecated: true) { name } } }')
    assert {"name": "statusCheckRollup"} in data["__type"]["fields"]
