"""The places where claims are shared."""

import pytest
from support.leases import yard


@pytest.fixture(params=["file", "http", "api", "clone"])
def shared(request, tmp_path):
    """Open each kind of place in turn."""
    with yard(request.param, tmp_path) as opened:
        yield opened


@pytest.fixture
def bare(tmp_path):
    """Open a bare repository reached by file://."""
    with yard("file", tmp_path) as opened:
        yield opened


@pytest.fixture
def github(tmp_path):
    """Open the local GitHub, reached by smart HTTP."""
    with yard("http", tmp_path) as opened:
        yield opened
