from importlib.resources import files
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate, validate_schema
from schema_subset import differences

from agent_sync.gateway.pulls.claim_polls import claims_operation
from agent_sync.gateway.transport.line import document, with_fragments
from agent_sync.task.decision.claims_seen import ClaimAsked

SDL = (files("agent_sync.emulator") / "schema.graphql").read_text("utf-8")
QUERIES = files("agent_sync.gateway") / "queries"
DOCUMENTS = sorted(entry.name.removesuffix(".graphql") for entry in QUERIES.iterdir() if entry.is_file())
TRIED = sorted((Path(__file__).parents[1] / "emulator" / "graphql" / "documents").glob("*.graphql"))


@pytest.fixture(scope="module")
def local_schema():
    """The schema of the local GitHub."""
    return build_schema(SDL)


def test_the_local_schema_is_sound(local_schema):
    """The local schema breaks no rule of GraphQL."""
    assert validate_schema(local_schema) == []


def test_the_local_schema_is_a_true_subset(published_document):
    """The local GitHub promises nothing that GitHub's published schema does not."""
    assert differences(parse(SDL), published_document) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_is_valid_here(name, local_schema):
    """Every document the gateway sends is valid on the local GitHub."""
    assert validate(local_schema, parse(document(name))) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_is_valid_at_github(name, published_schema):
    """Every document the gateway sends is valid by GitHub's published schema."""
    assert validate(published_schema, parse(document(name))) == []


@pytest.mark.parametrize("fragment", ["ClaimedPull", "ClaimedPullPlainly"])
def test_a_look_at_many_claims_is_valid(fragment, local_schema, published_schema):
    """The document that is made for claims is valid here and by GitHub's published schema."""
    asked = [ClaimAsked(1, 2), ClaimAsked(3, branch="claude/x-3"), ClaimAsked(4)]
    made = parse(with_fragments(claims_operation(asked, fragment)))
    assert validate(local_schema, made) == []
    assert validate(published_schema, made) == []


@pytest.mark.parametrize("tried", TRIED, ids=lambda path: path.stem)
def test_the_documents_of_our_tests_are_valid_at_github(tried, published_schema):
    """What the tests ask the local GitHub could be asked of GitHub."""
    assert validate(published_schema, parse(tried.read_text("utf-8"))) == []
