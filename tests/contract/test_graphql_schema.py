from importlib.resources import files
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate, validate_schema
from schema_subset import differences

SDL = (files("agent_sync.emulator") / "schema.graphql").read_text("utf-8")
QUERIES = Path(str(files("agent_sync"))) / "gateway" / "queries"
SENT = sorted(QUERIES.glob("*.graphql"))
TRIED = sorted((Path(__file__).parents[1] / "emulator" / "graphql" / "documents").glob("*.graphql"))
sending = pytest.mark.skipif(not SENT, reason="the gateway has no GraphQL documents to validate")


def test_the_local_schema_is_sound():
    """The local schema breaks no rule of GraphQL."""
    assert validate_schema(build_schema(SDL)) == []


def test_the_local_schema_is_a_true_subset(published_document):
    """The local GitHub promises nothing that GitHub's published schema does not."""
    assert differences(parse(SDL), published_document) == []


@sending
@pytest.mark.parametrize("document", SENT, ids=lambda path: path.stem)
def test_every_document_is_valid_here(document):
    """Every document the gateway sends is valid on the local GitHub."""
    assert validate(build_schema(SDL), parse(document.read_text("utf-8"))) == []


@sending
@pytest.mark.parametrize("document", SENT, ids=lambda path: path.stem)
def test_every_document_is_valid_at_github(document, published_schema):
    """Every document the gateway sends is valid by GitHub's published schema."""
    assert validate(published_schema, parse(document.read_text("utf-8"))) == []


@pytest.mark.parametrize("document", TRIED, ids=lambda path: path.stem)
def test_the_documents_of_our_tests_are_valid_at_github(document, published_schema):
    """What the tests ask the local GitHub could be asked of GitHub."""
    assert validate(published_schema, parse(document.read_text("utf-8"))) == []
