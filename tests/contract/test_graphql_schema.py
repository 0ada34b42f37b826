from importlib.resources import files
from pathlib import Path

from graphql import build_schema, parse, validate, validate_schema
from schema_subset import differences

from agent_sync.gateway.pulls.claim_polls import claims_operation
from agent_sync.gateway.transport.line import document, with_fragments
from agent_sync.task.decision.claims_seen import ClaimAsked

SDL = (files("agent_sync.emulator") / "schema.graphql").read_text("utf-8")
QUERIES = files("agent_sync.gateway") / "queries"
DOCUMENTS = sorted(entry.name.removesuffix(".graphql") for entry in QUERIES.iterdir() if entry.is_file())
TRIED = sorted((Path(__file__).parents[1] / "emulator" / "graphql" / "documents").glob("*.graphql"))

ASKED = [ClaimAsked(1, 2), ClaimAsked(3, branch="claude/x-3"), ClaimAsked(4)]


def sent():
    """Return every document the gateway sends, those that are made for claims too, by name."""
    made = {name: with_fragments(claims_operation(ASKED, name)) for name in ("ClaimedPull", "ClaimedPullPlainly")}
    return {name: document(name) for name in DOCUMENTS} | made


def refused(schema, texts):
    """Return what a schema has against documents, by name."""
    found = {name: validate(schema, parse(text)) for name, text in texts.items()}
    return {name: errors for name, errors in found.items() if errors}


def test_the_local_schema_is_a_true_subset(published_document):
    """The local GitHub promises nothing that GitHub's published schema does not."""
    assert differences(parse(SDL), published_document) == []


def test_the_local_schema_is_sound_and_takes_every_document():
    """The local schema breaks no rule of GraphQL, and every document the gateway sends is valid on the local GitHub."""
    schema = build_schema(SDL)
    assert validate_schema(schema) == []
    assert DOCUMENTS
    assert refused(schema, sent()) == {}


def test_every_document_is_valid_at_github(published_schema):
    """Every document the gateway sends is valid by GitHub's published schema.

    What the tests ask the local GitHub could be asked of GitHub, too.
    """
    assert TRIED
    assert refused(published_schema, sent() | {path.name: path.read_text("utf-8") for path in TRIED}) == {}
