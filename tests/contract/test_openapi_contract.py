import pytest
from openapi_contract import Contract

THING = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer"},
        "note": {"type": "string", "nullable": True},
        "at": {"type": "string", "format": "date-time"},
        "url": {"type": "string", "format": "uri"},
        "state": {"type": "string", "enum": ["open"], "nullable": True},
        "owner": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/owner"}]},
        "any": {"nullable": True},
    },
}
OWNER = {"type": "object", "required": ["login"], "properties": {"login": {"type": "string"}}}
PROBLEM = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}


def json_content(name):
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}


def operation(name, responses=None, **more):
    return {"operationId": name, "responses": responses or {"200": {}}, **more}


CONTRACT = Contract(
    {
        "components": {
            "parameters": {"ref": {"name": "ref", "x-multi-segment": True}},
            "responses": {},
            "schemas": {"thing": THING, "owner": OWNER, "basic-error": PROBLEM},
        },
        "paths": {
            "/things/{id}": {
                "get": operation("things/get", {"200": json_content("thing"), "204": {}}),
                "post": operation("things/set", requestBody=json_content("owner")),
            },
            "/things/mine": {"get": operation("things/mine")},
            "/refs/{ref}": {"get": operation("refs/get", parameters=[{"$ref": "#/components/parameters/ref"}])},
            "/refs/{ref}/state": {"get": operation("refs/state", parameters=[{"$ref": "#/components/parameters/ref"}])},
        },
    }
)

GOOD = [
    {"id": 1},
    {"id": 1, "note": None, "state": None, "owner": None, "any": None},
    {"id": 1, "note": "x", "state": "open", "owner": {"login": "octo"}, "any": 3},
    {"id": 1, "at": "2026-01-01T00:00:00Z", "url": "http://127.0.0.1:1/x"},
]

BAD = {
    "missing key": {},
    "wrong type": {"id": "1"},
    "null where none may be": {"id": None},
    "unknown key": {"id": 1, "extra": 1},
    "unknown word": {"id": 1, "state": "lost"},
    "no moment": {"id": 1, "at": "yesterday"},
    "moment without zone": {"id": 1, "at": "2026-01-01T00:00:00"},
    "no address": {"id": 1, "url": "/x"},
    "hollow reference": {"id": 1, "owner": {}},
    "unknown key behind a reference": {"id": 1, "owner": {"login": "octo", "shoe": 1}},
}


def answer(body, status=200):
    return CONTRACT.answer_problems(CONTRACT.operation("GET", "/things/1"), status, body)


@pytest.mark.parametrize("body", GOOD)
def test_answers_that_fit(body):
    """What the description allows passes, null included where it is nullable."""
    assert answer(body) == []


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_answers_that_do_not_fit(body):
    """Each way an answer can leave the description is noticed."""
    assert len(answer(body)) >= 1


def test_statuses():
    """A body where none belongs and a status nobody declared are noticed; plain errors are allowed."""
    assert answer({"id": 1}, 204) == ["status 204 has no body"]
    assert answer(None, 204) == []
    assert answer({"id": 1}, 201) == ["status 201 is not declared"]
    assert answer({"message": "Bad credentials", "status": "401"}, 401) == []
    assert answer({"error": "?"}, 401) != []


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/things/7", "things/get"),
        ("GET", "/things/mine", "things/mine"),
        ("POST", "/things/7", "things/set"),
        ("GET", "/refs/heads/a/b", "refs/get"),
        ("GET", "/refs/heads/a/b/state", "refs/state"),
        ("GET", "/things/7/parts", None),
        ("DELETE", "/things/7", None),
    ],
)
def test_operations_by_path(method, path, expected):
    """A request is matched to its operation, fixed words before placeholders."""
    found = CONTRACT.operation(method, path)
    assert (found and found.id) == expected


def test_request_bodies():
    """A request's body is held against the description too."""
    found = CONTRACT.operation("POST", "/things/7")
    assert CONTRACT.request_problems(found, {"login": "octo"}) == []
    assert CONTRACT.request_problems(found, {"login": 1}) != []
