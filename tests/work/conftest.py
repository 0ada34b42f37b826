"""The fleet on which work hooks are tried."""

import pytest
from support.fleet import fleet_in


@pytest.fixture
def fleet(tmp_path):
    """Set up a shared repository."""
    return fleet_in(tmp_path)
