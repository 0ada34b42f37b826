"""Runs git's own services for one request: what they advertise, and one exchange with them."""

import gzip
import shutil
import subprocess
import tempfile
from dataclasses import replace
from typing import IO

from agent_sync.emulator.exchange import Answer, Asked, text_answer
from agent_sync.emulator.git.commands import packet
from agent_sync.emulator.git.report import with_reasons
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.repositories import Repository

SERVICES = ("git-upload-pack", "git-receive-pack")
ADVERTISED = "info/refs"
FLUSH = b"0000"
_CAPABILITIES: dict[tuple[str, str], bytes] = {}


def advertisement(repository: Repository, asked: Asked) -> Answer:
    """Answer the first request of a fetch or push: what there is."""
    service = asked.query.get("service", "")
    if service not in SERVICES:
        return text_answer(403, "Please upgrade your git client.\n", connection="close")
    protocol = asked.headers.get("git-protocol", "")
    shown = _advertised(repository, service, protocol)
    # The second version of the protocol has no such introduction.
    head = b"" if _is_second(protocol) else packet(f"# service={service}\n".encode()) + FLUSH
    return _answer(f"application/x-{service}-advertisement", head + shown)


def _advertised(repository: Repository, service: str, protocol: str) -> bytes:
    command, variables = (service.removeprefix("git-"), "--http-backend-info-refs"), {"GIT_PROTOCOL": protocol}
    if service != "git-upload-pack" or not _is_second(protocol):
        return _said(command, repository, variables)
    # It names no refs, only what git can do with these settings.
    asked = protocol, (repository.git.path / "config").read_text()
    if not _CAPABILITIES.get(asked):
        _CAPABILITIES[asked] = _said(command, repository, variables)
    return _CAPABILITIES[asked]


def _is_second(protocol: str) -> bool:
    return "version=2" in protocol.split(":")


def exchange(repository: Repository, viewer: Viewer, service: str, asked: Asked) -> Answer:
    """Answer a request in which a fetch or push says what it wants."""
    if asked.headers.get("content-type") != f"application/x-{service}-request":
        return text_answer(415, "Unsupported Media Type\n", connection="close")
    with tempfile.TemporaryFile() as body, tempfile.NamedTemporaryFile("r", encoding="utf-8") as reasons:
        _unpack(asked, body)
        variables = _variables(repository, viewer, asked) | {"EMULATOR_REASONS": reasons.name}
        said = _said((service.removeprefix("git-"), "--stateless-rpc"), repository, variables, stdin=body)
        answer = _answer(f"application/x-{service}-result", said)
        return replace(answer, body=with_reasons(answer.body, _noted(reasons.read())))


def _said(
    command: tuple[str, ...], repository: Repository, variables: dict[str, str], stdin: IO[bytes] | None = None
) -> bytes:
    """Run a service of git in the repository and return what it says."""
    with tempfile.TemporaryFile() as reply:
        subprocess.run(
            ["git", *command, "."],
            cwd=repository.git.path,
            env=repository.git.environment() | variables,
            stdin=stdin or subprocess.DEVNULL,
            stdout=reply,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        reply.seek(0)
        return reply.read()


def _unpack(asked: Asked, body: IO[bytes]) -> None:
    asked.body.seek(0)
    is_packed = asked.headers.get("content-encoding") in {"gzip", "x-gzip"}
    shutil.copyfileobj(gzip.GzipFile(mode="rb", fileobj=asked.body) if is_packed else asked.body, body)
    body.seek(0)


def _variables(repository: Repository, viewer: Viewer, asked: Asked) -> dict[str, str]:
    return {
        "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
        "GIT_COMMITTER_NAME": viewer.user.login,
        "GIT_COMMITTER_EMAIL": f"{viewer.user.login}@http.127.0.0.1",
        "EMULATOR_RULES": f"{asked.links.web}/{repository.full_name}/rules",
        "EMULATOR_NO_WORKFLOWS": viewer.workflow_refusal,
    }


def _noted(text: str) -> dict[str, str]:
    return dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)


def _answer(kind: str, body: bytes) -> Answer:
    # On a connection it has used before, git's HTTP library silently repeats a request that was cut off;
    # with a fresh one for each request, a dropped push is seen as one.
    return Answer(
        200, body, {"content-type": kind, "cache-control": "no-cache, max-age=0, must-revalidate"}
    ).with_headers(connection="close")
