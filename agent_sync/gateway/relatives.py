"""Reads who holds an issue and which issues it is related to, each with the repository it belongs to."""

from collections.abc import Iterable

from agent_sync.gateway.cards import ISSUE, is_same_name
from agent_sync.gateway.transport.answer import GraphQLAnswer, Json, nodes_of
from agent_sync.gateway.transport.line import Line
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.task.decision.tasks import LinkedPull

# One relative that this token may not see must not hide the issue itself.
RELATIVES = tuple(
    (*ISSUE, name)
    for name in (
        "parent",
        "blockedBy",
        "blocking",
        "subIssues",
        "assignedActors",
        "closedByPullRequestsReferences",
        "issueType",
    )
)
_BOT = "[bot]"
_PROGRAMS = frozenset({"Bot"})
# Whoever is shown without a name: a deleted account, or an organisation, whose name takes a scope of its own.
_UNNAMED = {"Organization": "an organisation"}


@dataclass(frozen=True)
class Holders:
    """Who is assigned to an issue, which of them are programs, and whose open pull requests will close it."""

    assignees: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    rival_pulls: tuple[LinkedPull, ...] = ()


@dataclass(frozen=True)
class Relatives:
    """Open issues by their numbers where they are of this repository, else as `owner/name#n`."""

    here: tuple[int, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.here) + len(self.foreign)


def holders_of(line: Line, issue: Json, *, viewer: str) -> Holders:
    """Return who holds an issue; servers that know no bots as assignees list people only."""
    actors = nodes_of(issue.get("assignedActors") or issue.get("assignees"))
    pulls = nodes_of(issue.get("closedByPullRequestsReferences"))
    return Holders(
        assignees=tuple(_login(actor) for actor in actors),
        bots=tuple(_login(actor) for actor in actors if actor.get("kind") in _PROGRAMS),
        ids=tuple((_login(actor), str(actor["id"])) for actor in actors if actor.get("id")),
        rival_pulls=tuple(_linked(line, pull) for pull in pulls if _is_rival(pull, viewer)),
    )


def open_blockers_of(issue: Json) -> int:
    """Return how many open issues are in the way, those included that this token may not see."""
    return int((issue.get("issueDependenciesSummary") or {}).get("blockedBy") or 0)


def relatives_in(line: Line, answer: GraphQLAnswer, connection: str) -> Relatives:
    """Return the open issues of a connection of the issue."""
    return relatives(line, (node for node in answer.nodes(*ISSUE, connection) if node.get("state") == "OPEN"))


def parent_in(line: Line, answer: GraphQLAnswer) -> Relatives:
    """Return the parent of the issue, if it has one that can be seen."""
    found = answer.at(*ISSUE, "parent")
    return relatives(line, [found] if isinstance(found, dict) else [])


def relatives(line: Line, nodes: Iterable[Json]) -> Relatives:
    """Tell issues of this repository from those of others."""
    listed = [(repository_of_issue(line, node), int(node["number"])) for node in nodes]
    here = line.repository.full_name
    return Relatives(
        tuple(number for name, number in listed if is_same_name(name, here)),
        tuple(f"{name}#{number}" for name, number in listed if not is_same_name(name, here)),
    )


def repository_of_issue(line: Line, node: Json) -> str:
    """Return which repository an issue is of; one that does not tell is of the one that was asked."""
    return str((node.get("repository") or {}).get("nameWithOwner") or line.repository.full_name)


def _login(actor: Json) -> str:
    return str(actor.get("login") or _UNNAMED.get(str(actor.get("kind")), "ghost"))


def _author(pull: Json) -> str:
    return str((pull.get("author") or {}).get("login") or "ghost")


def _linked(line: Line, pull: Json) -> LinkedPull:
    repository = repository_of_issue(line, pull)
    is_here = is_same_name(repository, line.repository.full_name)
    return LinkedPull(int(pull["number"]), _author(pull), "" if is_here else repository)


def _is_rival(pull: Json, viewer: str) -> bool:
    """Tell whether an open pull request is of somebody else; an app signs its pull requests without the suffix."""
    author = _author(pull)
    return pull.get("state") == "OPEN" and not is_same_name(author.removesuffix(_BOT), viewer.removesuffix(_BOT))
