"""The floor under a step: a bare interpreter that makes as many plain requests, and as many of git's."""

import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.turns import seconds

# git lists a remote's refs in two requests, or in one where it speaks the first version of its protocol.
_PROGRAM = """
import os, sys
url, address, requests, git = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if requests:
    from http.client import HTTPConnection
    connection = HTTPConnection(address)
    for _ in range(requests):
        connection.request("GET", "/rate_limit")
        connection.getresponse().read()
for version in ["2"] * (git // 2) + ["0"] * (git % 2):
    os.posix_spawnp("git", ["git", "-c", "protocol.version=" + version, "ls-remote", url, "HEAD"], os.environ)
    os.wait()
"""


def floor_seconds(url: str, cwd: Path, environment: Mapping[str, str], *, requests: int, git: int) -> float:
    """Time the floor of a step that makes so many requests at a server."""
    return seconds(floor_command(url, requests=requests, git=git), cwd, environment)


def floor_command(url: str, *, requests: int, git: int) -> list[str]:
    """Return the command that makes so many requests and does nothing else."""
    if not requests + git:
        return [sys.executable, "-c", "pass"]
    return [sys.executable, "-c", _PROGRAM, f"{url}/octo/demo.git", urlsplit(url).netloc, str(requests), str(git)]
