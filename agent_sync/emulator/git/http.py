"""Git over smart HTTP: sign in, refuse what must be refused, and let git's own services do the rest."""

import re
from dataclasses import dataclass

from agent_sync.emulator.credentials import token_of
from agent_sync.emulator.exchange import Answer, Asked, text_answer
from agent_sync.emulator.git.commands import push_commands
from agent_sync.emulator.git.report import message_only
from agent_sync.emulator.git.services import ADVERTISED, advertisement, exchange
from agent_sync.emulator.operations.forks import maintains
from agent_sync.emulator.operations.refs import after_ref_changes
from agent_sync.emulator.operations.rights.access import ARCHIVED, has_role, require_visible
from agent_sync.emulator.world.people import Role, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.tokens import TokenKind
from agent_sync.emulator.world.world import World

GIT_PATH = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/(?P<service>info/refs|git-upload-pack|git-receive-pack)"
)
ANONYMOUS = "No anonymous write access."
INVALID = "Invalid username or token. Password authentication is not supported for Git operations."


class MovedError(Exception):
    """The repository has another name now; the message is the new path."""


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
        except MovedError as moved:
            query = f"?{asked.raw_query}" if asked.raw_query else ""
            return Answer(301, headers={"location": f"{asked.links.web}{moved}{query}"})
        except Refused as refusal:
            return _refused(refusal)
    if visit.service != "git-receive-pack":
        return _served(visit, asked)
    answer = _turned_away(visit, asked) or _served(visit, asked)
    with world.lock:
        after_ref_changes(world, visit.repository, by=visit.viewer.user)
    return answer


def _visit(world: World, asked: Asked) -> Visit:
    match = GIT_PATH.fullmatch(asked.path)
    if match is None:
        raise Refused(Kind.NOT_FOUND, "Repository not found.")
    moved = world.moved.get(f"{match['owner']}/{match['name']}".lower())
    if moved is not None:
        raise MovedError(f"/{moved.full_name}.git/{match['service']}")
    token, is_push = token_of(asked.headers), operation(asked) == "git-receive-pack"
    if token is None and world.git_credentials.are_required(is_push=is_push):
        raise Refused(Kind.UNAUTHORIZED, ANONYMOUS)
    viewer = world.viewer(token)
    repository = require_visible(world, viewer, world.repository(match["owner"], match["name"]))
    if is_push:
        _require_push(viewer, repository)
    return Visit(repository, viewer, match["service"], is_push)


def _require_push(viewer: Viewer, repository: Repository) -> None:
    if repository.archived:
        raise Refused(Kind.FORBIDDEN, ARCHIVED)
    may_push = has_role(viewer, repository, Role.WRITE) or maintains(viewer.user, repository)
    if not (viewer.may_write and viewer.may_write_code and may_push):
        raise Refused(Kind.FORBIDDEN, _denied(viewer, repository))


def _denied(viewer: Viewer, repository: Repository) -> str:
    if not viewer.may_write or viewer.kind is TokenKind.FINE_GRAINED:
        return "Write access to repository not granted."
    return f"Permission to {repository.full_name}.git denied to {viewer.user.login}."


def _turned_away(visit: Visit, asked: Asked) -> Answer | None:
    """Refuse a whole push for the number or the names of its refs, before git sees it."""
    rules, commands = visit.repository.push_rules, push_commands(asked)
    if any(not rules.allows(command.name) for command in commands):
        return text_answer(403, "Pushes are limited to the working branch.\n", connection="close")
    if rules.most_refs is None or len(commands) <= rules.most_refs:
        return None
    said = f"Repository policies do not allow pushes that update more than {rules.most_refs} branches or tags."
    result = {"content-type": "application/x-git-receive-pack-result", "connection": "close"}
    return Answer(200, message_only(said), result)


def _refused(refusal: Refused) -> Answer:
    match refusal.kind:
        case Kind.UNAUTHORIZED:
            said = ANONYMOUS if refusal.message == ANONYMOUS else INVALID
            return text_answer(401, f"{said}\n", www_authenticate='Basic realm="GitHub"')
        case Kind.NOT_FOUND:
            return text_answer(404, "Repository not found.\n")
        case _:
            return text_answer(403, f"{refusal.message}\n")


def _served(visit: Visit, asked: Asked) -> Answer:
    if visit.service == ADVERTISED:
        return advertisement(visit.repository, asked)
    return exchange(visit.repository, visit.viewer, visit.service, asked)
