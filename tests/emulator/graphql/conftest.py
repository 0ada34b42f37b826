"""A small world, and someone who asks it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_sync.emulator.acts.perform import perform
from agent_sync.emulator.graphql import execute
from agent_sync.emulator.scenarios import build
from agent_sync.emulator.world.world import World

DOCUMENTS = Path(__file__).parent / "documents"


@dataclass
class Context:
    """Asks the world in GraphQL, and lets others act on it."""

    world: World

    def answer(self, query, /, using="any", **variables):
        """Return the whole answer."""
        viewer = self.world.viewer(using)
        return execute(self.world, viewer, {"query": query, "variables": variables}, "http://127.0.0.1:80")

    def data(self, query, /, using="any", **variables):
        """Return the data of an answer without errors."""
        answer = self.answer(query, using, **variables)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def error(self, query, /, using="any", **variables):
        """Return the only error of an answer."""
        errors = self.answer(query, using, **variables)["errors"]
        assert len(errors) == 1, errors
        return errors[0]

    def document(self, name, /, using="any", **variables):
        """Return the data of one of the documents."""
        return self.data((DOCUMENTS / f"{name}.graphql").read_text(), using, **variables)

    def act(self, act, /, **fields):
        """Let somebody else act on the world."""
        return perform(self.world, {"act": act, **fields})

    def issue(self, number=42):
        """Return an issue of the world."""
        return self.world.repository("octo", "demo").conversations[number]

    def branch(self, name="claude/fix-42"):
        """Push a branch with one commit."""
        self.act("push_commit", branch=name, path="fix.txt", content="fixed\n")
        return name

    def pull(self, branch="claude/fix-42", body="Closes #42"):
        """Open a pull request from a new branch."""
        query = """mutation($r: ID!, $h: String!, $b: String) { createPullRequest(input: {
          repositoryId: $r, baseRefName: "main", headRefName: $h, title: "Fix it", body: $b
        }) { pullRequest { id number } } }"""
        repository = self.world.repository("octo", "demo").id
        return self.data(query, r=repository, h=self.branch(branch), b=body)["createPullRequest"]["pullRequest"]


@pytest.fixture
def context(tmp_path):
    """Return a context in front of the small world."""
    return Context(build("small", tmp_path))
