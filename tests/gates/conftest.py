"""A project with gates for every test that asks for one."""

import pytest
from support.gauntlet import GatedProject


@pytest.fixture
def project(repo):
    """Make a repository with one check that passes."""
    return GatedProject(repo, ok="command: 'true'\n")
