"""Where GitHub's published schemas are, or why they are not compared here."""

import json
import os
from pathlib import Path

import pytest
from graphql import build_schema, parse

VARIABLE = "AGENT_SYNC_GITHUB_SCHEMAS"


@pytest.fixture(scope="session")
def published() -> Path:
    """Return the directory that holds GitHub's schema.graphql and rest.openapi.json."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} does not name a directory with GitHub's published schemas")
    return Path(folder)


@pytest.fixture(scope="session")
def published_document(published):
    """Return GitHub's GraphQL schema as a syntax tree."""
    return parse((published / "schema.graphql").read_text("utf-8"), no_location=True)


@pytest.fixture(scope="session")
def published_schema(published):
    """Return GitHub's GraphQL schema; one deprecation in it breaks a rule of the library."""
    return build_schema((published / "schema.graphql").read_text("utf-8"), assume_valid=True)


@pytest.fixture(scope="session")
def openapi(published):
    """Return GitHub's description of its REST interface."""
    return json.loads((published / "rest.openapi.json").read_text("utf-8"))
