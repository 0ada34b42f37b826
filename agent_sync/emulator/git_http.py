"""Git over smart HTTP: sign in, refuse what must be refused, and let git's own backend do the rest."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO

from agent_sync.emulator.credentials import token_of
from agent_sync.emulator.exchange import Answer, Asked, text_answer
from agent_sync.emulator.operations.access import require_role
from agent_sync.emulator.operations.refs import after_ref_changes
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World

GIT_PATH = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/(?P<service>info/refs|git-upload-pack|git-receive-pack)"
)
BIG = 8 * 1024 * 1024


@dataclass(frozen=True)
class Visit:
    """One git request: whose, where, and what for."""

    repository: Repository
    viewer: Viewer
    service: str
    is_push: bool


def is_git(path: str) -> bool:
    """Say whether a path belongs to git."""
    return GIT_PATH.fullmatch(path) is not None


def operation(asked: Asked) -> str:
    """Return the git service a request is about, as the journal shows it."""
    last = asked.path.rpartition("/")[2]
    return asked.query.get("service", last) if last == "refs" else last


def answer_git(world: World, asked: Asked) -> Answer:
    """Serve one request of a git client."""
    with world.lock:
        try:
            visit = _visit(world, asked)
        except Refused as refusal:
            return _refused(refusal)
    answer = _backend(visit, asked)
    if visit.service == "git-receive-pack":
        with world.lock:
            after_ref_changes(world, visit.repository, by=visit.viewer.user)
    return answer


def _visit(world: World, asked: Asked) -> Visit:
    match = GIT_PATH.fullmatch(asked.path)
    if match is None:
        raise Refused(Kind.NOT_FOUND, "Repository not found.")
    viewer = world.viewer(token_of(asked.headers))
    repository = world.repository(match["owner"], match["name"])
    is_push = operation(asked) == "git-receive-pack"
    if is_push:
        require_role(viewer, repository)
    return Visit(repository, viewer, match["service"], is_push)


def _refused(refusal: Refused) -> Answer:
    match refusal.kind:
        case Kind.UNAUTHORIZED:
            return text_answer(401, "Invalid username or token.\n", www_authenticate='Basic realm="GitHub"')
        case Kind.NOT_FOUND:
            return text_answer(404, "Repository not found.\n")
        case _:
            return text_answer(403, f"{refusal.message}\n")


def _backend(visit: Visit, asked: Asked) -> Answer:
    asked.body.seek(0, 2)
    length = asked.body.tell()
    asked.body.seek(0)
    with tempfile.TemporaryFile() as body, tempfile.TemporaryFile() as reply:
        _copy(asked.body, body)
        environment = _environment(visit, asked, length)
        subprocess.run(["git", "http-backend"], stdin=body, stdout=reply, env=environment, check=False,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        reply.seek(0)
        return _parsed(reply.read())


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while chunk := source.read(BIG):
        target.write(chunk)
    target.seek(0)


def _environment(visit: Visit, asked: Asked, length: int) -> dict[str, str]:
    path = visit.repository.git.path
    plain = {name: value for name, value in visit.repository.git.environment().items() if name != "GIT_DIR"}
    return plain | {
        "GIT_PROJECT_ROOT": str(path.parent.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{path.parent.name}/{path.name}/{visit.service}",
        "REQUEST_METHOD": asked.method,
        "QUERY_STRING": asked.raw_query,
        "CONTENT_TYPE": asked.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(length),
        "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
        "REMOTE_USER": visit.viewer.user.login,
        "REMOTE_ADDR": "127.0.0.1",
    }


def _parsed(reply: bytes) -> Answer:
    head, _, body = reply.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split(" ")[0])
    answer = Answer(status, body, {name.lower(): value for name, value in headers.items()})
    # On a connection it has used before, git's HTTP library silently repeats a request that was cut off;
    # with a fresh one for each request, a dropped push is seen as one.
    return answer.with_headers(connection="close")
