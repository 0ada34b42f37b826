from importlib.resources import files

import pytest
from graphql import build_schema, parse, validate, validate_schema
from schema_subset import differences

SDL = (files("agent_sync.emulator") / "schema.graphql").read_text("utf-8")
DOCUMENTS = sorted(
    (
        entry
        for entry in (files("agent_sync") / "gateway" / "queries").iterdir()
        if entry.name.endswith(".graphql")
    )
    if (files("agent_sync") / "gateway" / "queries").is_dir()
    else [],
    key=lambda entry: entry.name,
)


def test_the_local_schema_is_sound():
    """The local schema breaks no rule of GraphQL."""
    assert validate_schema(build_schema(SDL)) == []


def test_the_local_schema_is_a_true_subset(published_document):
    """The local GitHub promises nothing that GitHub's published schema does not."""
    assert differences(parse(SDL), published_document) == []


@pytest.mark.skipif(not DOCUMENTS, reason="the gateway has no GraphQL documents to validate")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda entry: entry.name)
def test_every_document_is_valid_here(document):
    """Every document the gateway sends is valid on the local GitHub."""
    assert validate(build_schema(SDL), parse(document.read_text("utf-8"))) == []


@pytest.mark.skipif(not DOCUMENTS, reason="the gateway has no GraphQL documents to validate")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda entry: entry.name)
def test_every_document_is_valid_at_github(document, published_schema):
    """Every document the gateway sends is valid by GitHub's published schema."""
    assert validate(published_schema, parse(document.read_text("utf-8"))) == []
