"""Checks of GitHub: repository, token, scopes, board, names and clocks; offline all of it is one line."""

from collections.abc import Iterator
from datetime import datetime

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, GitHubDown, NotFound, RateLimited
from agent_sync.gateway.transport.address import address_of
from agent_sync.gateway.transport.token import find_token
from agent_sync.setup.doctor.documents import check_documents
from agent_sync.setup.doctor.names import check_names
from agent_sync.setup.doctor.result import Result, fail, ok, skip, warn
from agent_sync.system import clock
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import BoardShape, Person

NEEDED = ("repo", "project")
MOST_SKEW_S = 30.0


def check_github(context: Context) -> Iterator[Result]:
    """Check everything that can be known of GitHub, up to the first thing that keeps the rest from being known."""
    name = "repository"
    try:
        repository, endpoint = address_of(context)
        yield ok(name, f"{repository.full_name} on {endpoint.host}, from remote {context.remotes.base}")
        name = "token"
        token = find_token(endpoint, context.environment, context.processes, directory=context.place.root)
        person = context.gateway.viewer()
        yield ok(name, f"{token.kind.value} of {one_line(person.login)}, from {token.source}")
        yield check_scopes(person)
        yield check_clock(person.clock, clock.now())
        name = "documents"
        yield check_documents(context)
        name = "fork"
        yield from _fork(context, repository.full_name)
        name = "board"
        yield from _board(context)
    except (GitHubDown, RateLimited) as error:
        yield skip("github", f"cannot be asked now: {error.happened}", "agent-sync doctor, a little later")
    except AgentSyncError as error:
        yield fail(name, error.happened, error.helps or "agent-sync doctor")


def _fork(context: Context, here: str) -> Iterator[Result]:
    """Say where branches go that are not pushed to the repository of the issues; a fork without issues needs that."""
    remotes = context.remotes
    if remotes.fork:
        says = f"branches go to {remotes.fork}, remote {remotes.push}; issues, base and claims are {here}'s"
        missing = f"{says}, which is no remote here: a claim adds it"
        yield ok("fork", says) if remotes.has_base else warn("fork", missing, f"gh repo set-default {here}")
        return
    parent = one_line(context.gateway.parent())
    if parent:
        says = f"{here} is a fork of {parent} and has no issues of its own; a claim adds the remote upstream"
        yield warn("fork", says, f"gh repo set-default {parent}")


def check_scopes(person: Person) -> Result:
    """Check that the token may do what agent-sync does."""
    if person.scopes is None:
        return skip("scopes", "this kind of token does not tell them; the board's check shows")
    has = set(person.scopes) | ({"repo"} if "public_repo" in person.scopes else set())
    missing = [scope for scope in NEEDED if scope not in has]
    if missing:
        shown = ", ".join(person.scopes) or "none"
        fix = f"gh auth refresh --scopes {','.join(NEEDED)}"
        return fail("scopes", f"missing: {', '.join(missing)}; the token has: {shown}", fix)
    return ok("scopes", ", ".join(person.scopes))


def check_clock(theirs: datetime | None, ours: datetime) -> Result:
    """Check that this machine's clock agrees with GitHub's."""
    if theirs is None:
        return skip("clock", "GitHub did not tell its time")
    skew = (ours - theirs).total_seconds()
    if abs(skew) > MOST_SKEW_S:
        way = "ahead of" if skew > 0 else "behind"
        return warn("clock", f"this machine is {abs(skew):.0f} s {way} GitHub", "timedatectl set-ntp true")
    return ok("clock", "agrees with GitHub's")


def _board_result(board: BoardShape, owner: str) -> Result:
    says, now = f"{one_line(board.title)}: {one_line(board.url)}", one_line(board.owner)
    if owner and owner.casefold() != now.casefold():
        return warn("board", f"{says}; its owner {one_line(owner)} is called {now} now", f'project.owner = "{now}"')
    return ok("board", says)


def _board(context: Context) -> Iterator[Result]:
    project = context.settings.project
    try:
        boards = context.gateway.boards()
    except NotFound:
        boards = ()
    if project.number is None:
        offered = ", ".join(f"{board.number} ({one_line(board.title)})" for board in boards) or "none that can be seen"
        yield warn("board", f"none is configured; there is: {offered}", "set project.number in .agent-sync.toml")
    elif not boards:
        says = f"there is no board {project.number}, or this token cannot see it"
        yield fail("board", says, "correct project.owner and project.number in .agent-sync.toml")
    else:
        yield _board_result(boards[0], project.owner)
        yield from check_names(boards[0], context.settings.board)
