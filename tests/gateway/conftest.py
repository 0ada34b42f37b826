"""The gateway in front of a local GitHub, or of documented answers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from authority import Authority, new_authority
from documented import Documented
from local_github import Local, context_in, repository_in, settings_of
from proxied import ProxiedServer, proxied_server
from support.surroundings import NO_CERTIFICATES

from agent_sync.emulator.server import running
from agent_sync.gateway.github import GitHub
from agent_sync.gateway.port import Gateway

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *(name.upper() for name in PROXIES)):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    """A local GitHub of one's own."""
    with (
        running() as server,
        httpx.Client(base_url=server.url, verify=NO_CERTIFICATES, trust_env=False, timeout=60) as control,
    ):
        root = repository_in(tmp_path / "clone", f"{server.url}/octo/demo.git")
        yield Local(server.url, control, root)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Local]:
    """A local GitHub whose two repositories share a board, seen from a clone of one of them."""
    with (
        running(scenario="team") as server,
        httpx.Client(base_url=server.url, verify=NO_CERTIFICATES, trust_env=False, timeout=60) as control,
    ):
        root = repository_in(tmp_path / "clone", f"{server.url}/Acme/api.git")
        yield Local(server.url, control, root)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority that the machine does not know."""
    return new_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def proxied(authority: Authority, _no_proxies: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProxiedServer]:
    """A server that is reached through a proxy, and believed."""
    with proxied_server(authority) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        yield server


@pytest.fixture
def documented(tmp_path: Path, proxied: ProxiedServer) -> Documented:
    """GitHub's answers, as its documentation shows them."""
    root = repository_in(tmp_path / "documented", "git@github.com:octo/demo.git")

    def open_gateway(token: str, sleep: Callable[[float], None], tables: dict[str, Any]) -> Gateway:
        return GitHub.reaching(context_in(root, settings_of(**tables), GH_TOKEN=token), sleep=sleep)

    return Documented(proxied, open_gateway)


@pytest.fixture
def go_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a way to begin again in an empty home: limits that one gateway met there would hold up the next."""

    def go(name: str) -> None:
        home = tmp_path / f"home of {name}"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))

    return go
