"""Guards for every test: its own home, no network but loopback, no variable of the person who runs it."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings as hypothesis_settings
from support.context import Workshop
from support.prove import PROVE
from support.surroundings import foreign_names, plain_values

_LOOPBACK = ("127.", "::1", "localhost")

# `make prove` plays thousands.
hypothesis_settings.register_profile(
    "test", max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
hypothesis_settings.register_profile("prove", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
hypothesis_settings.load_profile("prove" if PROVE else "test")


# Where files live in memory and a flush to disk costs nothing; taken only with this much room.
IN_MEMORY = Path("/dev/shm")  # noqa: S108
ROOM = 4 << 30


def pytest_configure():
    """Work in memory where that can be had, and let signals mean what they mean.

    Background jobs and `nohup` start with some signals ignored, and pass that on.
    """
    if "TMPDIR" not in os.environ and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ["TMPDIR"] = str(IN_MEMORY)
        tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_terminal_summary(terminalreporter):
    """Print what sweeps have counted, from whichever process they ran in."""
    for report in terminalreporter.stats.get("passed", ()):
        for name, value in getattr(report, "user_properties", ()):
            if name == "counted":
                terminalreporter.write_line(value)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory, monkeypatch):
    """Give every test a home of its own and an environment that says nothing of the machine."""
    home = tmp_path_factory.mktemp("home")
    for name in foreign_names(os.environ):
        monkeypatch.delenv(name)
    for name, value in plain_values(home).items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch):
    """Make any connection that leaves the machine a failure that explains itself."""
    connect = socket.socket.connect

    def guarded(self, address):
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            pytest.fail(f"a test tried to leave the machine: {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def begun_repo(tmp_path_factory) -> Path:
    """Make a real git repository with one commit, to be copied."""
    root = tmp_path_factory.mktemp("begun")
    plain = {name: value for name, value in os.environ.items() if name not in foreign_names(os.environ)}
    for command in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", *command], cwd=root, env=plain | plain_values(root), check=True)
    return root


@pytest.fixture
def repo(begun_repo, tmp_path) -> Path:
    """Return a real git repository with one commit."""
    # Its files are as new as if git had just made them.
    return Path(shutil.copytree(begun_repo, tmp_path / "repo", copy_function=shutil.copy))


@pytest.fixture
def workshop(repo) -> Workshop:
    """Set up a context in a real repository, with a GitHub that lives in memory."""
    return Workshop(repo)
