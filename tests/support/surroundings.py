"""An environment that says nothing of the machine and of the person who runs the tests."""

import os
import ssl
from collections.abc import Iterable
from pathlib import Path

# For clients of plain HTTP on loopback, which would read all certificates of the machine else.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_FOREIGN = ("AGENT_SYNC_", "MOLTNET_", "CLAUDE", "GIT_", "GH_", "GITHUB_", "XDG_", "ATLAS_")
# In a CI the gate looks at other changes, and some tests run in one; certificates of a machine take long to read.
_FOREIGN_NAMES = ("CI", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


def foreign_names(names: Iterable[str]) -> list[str]:
    """Return the variables that a test must not see."""
    return [name for name in names if name.startswith(_FOREIGN) or name in _FOREIGN_NAMES]


def plain_values(home: Path) -> dict[str, str]:
    """Return the variables that a test has in their place."""
    people = {f"GIT_{role}_NAME": "Tester" for role in ("AUTHOR", "COMMITTER")}
    people |= {f"GIT_{role}_EMAIL": "tester@example.invalid" for role in ("AUTHOR", "COMMITTER")}
    return people | {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
