"""Which remote has the issues, the base branch and the claims, and which takes the branches: the same, or a fork."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_sync.errors import Refused
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.system.git import Remote

if TYPE_CHECKING:
    from agent_sync.context import Context

# What gh writes at the remote whose repository its commands are about.
BASE = "base"
_HINTS = pattern(rb"gh-resolved|pushurl|pushdefault", re.IGNORECASE)
_ASKED = r"^remote\.(pushdefault|.*\.(gh-resolved|pushurl))$"


@dataclass(frozen=True)
class Remotes:
    """The remotes of one clone by their names; `fork` is the repository that takes the branches, if it is another."""

    base: str
    push: str
    fork: str = ""
    # The repository of the issues, where settings or gh name one; no remote may be that repository.
    named: str = ""
    has_base: bool = True

    @property
    def is_same(self) -> bool:
        """Whether issues and branches are of one remote."""
        return self.base == self.push


def remotes_of(context: "Context") -> Remotes:
    """Return what each remote is for: as the settings say, else as gh has noted, else one for everything."""
    choices, own, wanted = remote_choices(context), context.settings.git.remote, context.settings.git.push_remote
    named, base = _base(context, choices)
    usual = own if base != own else choices.push_default
    push = next((name for name in (wanted, usual) if name and context.git.remote_url(name)), base)
    if push == base and not named and push not in choices.with_push_url:
        return Remotes(base, push)
    there = named or _full_name_in(context.git.remote_url(base))
    fork = _other_name(there, context.git.remote(push))
    has_base = not fork or _is_named(context, base, there)
    return Remotes(base, push, fork, named, has_base)


@dataclass(frozen=True)
class RemoteChoices:
    """Where git pushes by default, what gh has noted at which remote, and which have a push address of their own."""

    push_default: str = ""
    resolved: Mapping[str, str] = field(default_factory=dict)
    with_push_url: frozenset[str] = frozenset()


def remote_choices(context: "Context") -> RemoteChoices:
    """Return what the user, or gh for them, has chosen in this clone; git is asked only where there is a sign of it."""
    try:
        is_hinted = _HINTS.search((Path(context.place.common_dir) / "config").read_bytes())
    except OSError:
        is_hinted = None
    if not is_hinted:
        return RemoteChoices()
    from agent_sync.system.git_branches import configured

    found = dict(_entries(configured(context.git, _ASKED)))
    resolved = {_remote_in(key): value for key, value in found.items() if key.endswith(".gh-resolved")}
    pushed = frozenset(_remote_in(key) for key in found if key.endswith(".pushurl"))
    return RemoteChoices(found.get("remote.pushdefault", ""), resolved, pushed)


def base_remote(context: "Context") -> Remote | None:
    """Return the remote of the issues' repository as git is to be told of it; None where it is not configured."""
    found = context.git.remote(context.remotes.base)
    if found and context.remotes.fork and context.remotes.is_same:
        # Its name alone would send what is pushed to the fork.
        return Remote(found.name, found.url, found.url, has_name=False)
    return found


def base_branch(context: "Context") -> str:
    """Return the branch that work is merged into, as far as this clone has been told."""
    remotes = context.remotes
    told = (context.git.default_branch(remote) for remote in dict.fromkeys((remotes.base, remotes.push)))
    return context.settings.pr.base or next(filter(None, told), "")


def refuse_shared_branch(context: "Context", branch: str, *, default: str = "", attempted: str, helps: str) -> None:
    """Stop where a task's branch would be the default or the base branch, whose commits need no pull request."""
    remotes = context.remotes
    told = [default, *(context.git.default_branch(remote) for remote in (remotes.base, remotes.push))]
    known = [name for name in told if name] or ["main", "master"]
    kinds = {"default": known, "base": [context.settings.pr.base]}
    for kind, names in kinds.items():
        # Where file names know no case, git takes one for the other.
        if branch and branch.casefold() in {name.casefold() for name in names if name}:
            message = f'Branch "{branch}" is the {kind} branch: a task has a branch of its own.'
            raise Refused(message, attempted=attempted, helps=helps)


def _base(context: "Context", choices: RemoteChoices) -> tuple[str, str]:
    """Return the repository that is named for the issues, if one is, and the remote that is or stands for it."""
    own, named = context.settings.git.remote, context.settings.github.repository
    if not named and "git.remote" in context.origins:
        return "", own
    if not named:
        for remote, value in choices.resolved.items():
            if value == BASE and context.git.remote_url(remote):
                return "", remote
            named = named or (value if "/" in value else "")
    return named, remote_naming(context, named) or own if named else own


def remote_naming(context: "Context", repository: str) -> str:
    """Return the remote whose address is a repository's, the usual one first."""
    own = context.settings.git.remote
    names = dict.fromkeys((own, *context.git.remotes()))
    return next((name for name in names if _is_named(context, name, repository)), "")


def _is_named(context: "Context", remote: str, repository: str) -> bool:
    found = _full_name_in(context.git.remote_url(remote))
    return found.casefold() == "/".join(repository.split("/")[-2:]).casefold()


def _other_name(repository: str, remote: Remote | None) -> str:
    """Return the repository that a remote pushes to, if it is another one."""
    pushes = _full_name_in(remote.push_url) if remote else ""
    is_other = pushes and repository and pushes.casefold() != "/".join(repository.split("/")[-2:]).casefold()
    return pushes if is_other else ""


def _full_name_in(url: str | None) -> str:
    """Load what reads addresses only where there is a choice."""
    from agent_sync.gateway.transport.address import full_name_in

    return full_name_in(url)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for entry in filter(None, text.split("\0")):
        key, _, value = entry.partition("\n")
        yield key, value.strip()


def _remote_in(key: str) -> str:
    return key.removeprefix("remote.").rpartition(".")[0]
