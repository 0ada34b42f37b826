"""The claim refs: where they are kept, what is read back, and what this clone remembers of remotes and odd leases."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agent_sync.context import Context
from agent_sync.errors import BadConfig, BadLease, LeaseTooNew
from agent_sync.gateway.port import Gateway
from agent_sync.gateway.transport.remotes import base_remote
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.model import FILE_NAME, LARGEST, Lease, Tip
from agent_sync.leases.refs.api_transport import api_of
from agent_sync.leases.refs.transports import CloneTransport, RemoteTransport
from agent_sync.leases.refs.values import CLAIMS, Blob, FileAt, FoundRef, NewCommit, RefTransport, TooLarge, Where
from agent_sync.leases.results import ClaimSeen, Doubt, Unknown, Unreadable
from agent_sync.leases.rules import parse
from agent_sync.settings import Settings
from agent_sync.system import clock, files
from agent_sync.system.git import NETWORK_LIMIT, Git, Remote
from agent_sync.system.git_refusals import no_remote
from agent_sync.task.claim.model import LARGEST_NUMBER
from agent_sync.task.decision.outside_text import quoted
from agent_sync.worktree import FUTURE_LEASES, LEASE_LOCK, REFUSING_REMOTES, Place

_ISSUE = pattern(r"[1-9][0-9]{0,9}", re.ASCII)
LOCK_WAIT = 5.0
# Rules of a server change; a day of claims in this clone alone is the most that an old one costs.
REFUSAL_LASTS = timedelta(days=1)
MOST_FUTURE_LEASES = 100
_Notes = dict[str, str]


# The way to GitHub's interface, where there is one; asked for only where it is needed.
Interface = Callable[[], Callable[[], Gateway] | None]


@dataclass(frozen=True)
class SharedHome:
    """The remote that keeps claims, by its name and how it is found, and the name of the one that takes branches."""

    name: str
    find: Callable[[], Remote | None]
    branches: str


def transport_for(  # noqa: PLR0913  # everything that has a say in it
    git: Git,
    place: Place,
    settings: Settings,
    now: datetime,
    *,
    limit_s: float = NETWORK_LIMIT,
    interface: Interface = lambda: None,
    home: SharedHome | None = None,
) -> RemoteTransport | CloneTransport:
    """Return where new claims are kept.

    A clone without any remote keeps them itself; one that lacks the remote it is told to use does not guess.
    """
    home = home or _home_at(git, settings.git.remote)
    if settings.lease.where == "clone":
        return CloneTransport(git, home.branches, "the settings say so")
    found = home.find()
    if found is None:
        if others := git.remotes():
            raise no_remote(home.name, others)
        return CloneTransport(git, home.branches, f"there is no remote {home.name}")
    return _shared(RemoteTransport(git, found, limit_s, home.branches), place, now, interface)


def transport_at(  # noqa: PLR0913  # where, and by which of the ways there are
    where: Where,
    git: Git,
    remote: str,
    *,
    limit_s: float = NETWORK_LIMIT,
    place: Place | None = None,
    interface: Interface = lambda: None,
    home: SharedHome | None = None,
) -> RemoteTransport | CloneTransport:
    """Return where a claim is kept that was made earlier; only a configured remote has any."""
    home = home or _home_at(git, remote)
    if where is Where.CLONE:
        return CloneTransport(git, home.branches, "the claim was made so")
    by_git = RemoteTransport(git, home.find() or git.must_have(home.name), limit_s, home.branches)
    return _shared(by_git, place, clock.now(), interface) if place else by_git


def transport_of(context: Context, where: Where, *, limit_s: float = NETWORK_LIMIT) -> RemoteTransport | CloneTransport:
    """Return where a claim of this worktree is kept that was made earlier."""
    home, interface = shared_home(context), partial(connection, context)
    return transport_at(
        where, context.git, home.name, limit_s=limit_s, place=context.place, interface=interface, home=home
    )


def shared_home(context: Context) -> SharedHome:
    """Return the remote of this worktree's issues, where claims are kept, and the one that takes its branches."""
    return SharedHome(context.remotes.base, lambda: base_remote(context), context.remotes.push)


def _home_at(git: Git, name: str) -> SharedHome:
    return SharedHome(name, lambda: git.remote(name), name)


def connection(context: Context) -> Callable[[], Gateway] | None:
    """Return the way to GitHub's interface, where this worktree is known to be about a repository there."""
    from agent_sync.gateway.transport.address import address_of

    try:
        address_of(context)
    except BadConfig:
        return None
    return lambda: context.gateway


def claims_address(context: Context) -> str:
    """Return where claims are pushed to."""
    found = base_remote(context)
    return found.push_url if found else ""


def push_address(context: Context) -> str:
    """Return where branches are pushed to."""
    found = context.git.remote(context.remotes.push)
    return found.push_url if found else ""


def _shared(by_git: RemoteTransport, place: Place, now: datetime, interface: Interface) -> RemoteTransport:
    """Return the shared refs by the way that works: git, unless it was refused lately and there is another."""
    connect = interface() if refused_since(place, by_git.url, now) else None
    return api_of(by_git, connect) if connect else by_git


def transport_here(context: Context, *, limit_s: float = NETWORK_LIMIT) -> RemoteTransport | CloneTransport:
    """Return where new claims of this worktree are kept, and the work that goes with them."""
    home, interface = shared_home(context), partial(connection, context)
    return transport_for(
        context.git, context.place, context.settings, clock.now(), limit_s=limit_s, interface=interface, home=home
    )


class ClaimRef(NamedTuple):
    """The ref of an issue's claim, unread."""

    issue: int
    sha: str
    # A ref below the one of an issue, whose name git then takes for a folder.
    in_the_way: str = ""


def claim_ref(issue: int) -> str:
    """Return the ref that says who holds an issue."""
    return f"{CLAIMS}{issue}"


def claim_commit(lease: Lease, parent: str, note: str = "") -> NewCommit:
    """Return the commit that stores a lease, with a note for people."""
    message = f"Claim #{lease.issue}: {lease.state}, epoch {lease.epoch}\n" + (f"\n{note}\n" if note else "")
    parents = (parent,) if parent else ()
    return NewCommit(message, {FILE_NAME: lease.to_json()}, parents, int(lease.renewed_at.timestamp()))


def read_claim(transport: RefTransport, issue: int, *, fetched: str = "") -> ClaimSeen:
    """Return what an issue's ref holds now, fetched alone or with others; None means that it was never claimed."""
    trouble = transport.fetch([fetched or claim_ref(issue)])
    return Unknown(Doubt.UNREACHABLE, trouble) if trouble else known_claim(transport, issue)


def known_claim(transport: RefTransport, issue: int) -> ClaimSeen:
    """Return what an issue's ref held when it was last read or written here, without asking anybody."""
    for found in read_claims(transport, known_refs(transport, claim_ref(issue))):
        return found.unknown if isinstance(found, Unreadable) else found
    return None


def read_claims(transport: RefTransport, refs: Sequence[ClaimRef]) -> tuple[Tip | Unreadable, ...]:
    """Return what the commits of some claim refs hold, with two processes however many there are."""
    found = transport.read([FileAt(ref.sha, FILE_NAME) for ref in refs], largest=LARGEST)
    return tuple(_claim(ref, content, transport.where) for ref, content in zip(refs, found, strict=True))


def known_refs(transport: RefTransport, name: str = CLAIMS) -> tuple[ClaimRef, ...]:
    """Return the claim refs that are `name` or lie below it, one for each issue."""
    return tuple({ref.issue: ref for ref in _claim_refs(transport.known(name))}.values())


def _claim_refs(refs: Iterable[FoundRef]) -> Iterator[ClaimRef]:
    for ref in refs:
        number, _, more = ref.name.removeprefix(CLAIMS).partition("/")
        # Whoever names a ref otherwise does not speak of an issue.
        if _ISSUE.fullmatch(number) and int(number) <= LARGEST_NUMBER:
            yield ClaimRef(int(number), ref.sha, ref.name if more else "")


def _claim(ref: ClaimRef, content: Blob, where: Where) -> Tip | Unreadable:
    try:
        return Tip(ref.sha, _lease(ref, content), where)
    except LeaseTooNew as error:
        return Unreadable(ref.issue, ref.sha, Unknown(Doubt.TOO_NEW, error.happened))
    except BadLease as error:
        doubt = Doubt.BLOCKED if ref.in_the_way else Doubt.UNREADABLE
        return Unreadable(ref.issue, ref.sha, Unknown(doubt, error.happened))


def _lease(ref: ClaimRef, content: Blob) -> Lease:
    if ref.in_the_way:
        who = "a person who may write to the repository must remove it"
        raise BadLease(f"The ref {quoted(ref.in_the_way)} is in the way of the claim of #{ref.issue}: {who}.")
    match content:
        case None:
            raise BadLease(f"The claim of #{ref.issue} has no {FILE_NAME}.")
        case TooLarge(size):
            message = f"{FILE_NAME} has {size} bytes, more than {LARGEST}"
            raise BadLease(f"The claim of #{ref.issue} cannot be read: {message}.")
        case bytes():
            return parse(content, issue=ref.issue)


def refused_since(place: Place, address: str, now: datetime) -> datetime | None:
    """Return when a remote refused claim refs, if that is recent enough to believe; a probe can prove it wrong."""
    at = _moment(_read(place, REFUSING_REMOTES), _remote_key(address))
    try:
        return at if at and at <= now < at + REFUSAL_LASTS else None
    except (TypeError, OverflowError):
        return None


def remember_refusal(place: Place, address: str, now: datetime) -> None:
    """Note that a remote refuses claim refs."""
    _change(place, REFUSING_REMOTES, lambda known: known | {_remote_key(address): now.isoformat()})


def forget_refusal(place: Place, address: str) -> None:
    """Note that a remote takes claim refs."""
    key = _remote_key(address)
    if key in _read(place, REFUSING_REMOTES):
        _change(place, REFUSING_REMOTES, lambda known: {other: at for other, at in known.items() if other != key})


def first_seen_at(place: Place, tip: Tip, now: datetime) -> datetime:
    """Return since when a claim ref is known to stand where it stands; now, if this is the first look.

    The time of a lease that is dated in the future says nothing, and ours has to do.
    """
    at = _moment(_read(place, FUTURE_LEASES), tip.sha)
    try:
        if at and at <= now:
            return at
    except TypeError:
        pass
    _change(place, FUTURE_LEASES, lambda known: _with_newest(known, tip.sha, now))
    return now


def _with_newest(known: _Notes, sha: str, now: datetime) -> _Notes:
    others = [(other, at) for other, at in known.items() if other != sha]
    return dict(others[1 - MOST_FUTURE_LEASES :]) | {sha: now.isoformat()}


def _moment(notes: _Notes, key: str) -> datetime | None:
    try:
        return datetime.fromisoformat(notes[key])
    except (KeyError, TypeError, ValueError):
        return None


def _read(place: Place, name: str) -> _Notes:
    try:
        values = json.loads(files.read_own(Path(place.shared_dir) / name) or b"{}")
    except (files.NotPlain, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _change(place: Place, name: str, changed: Callable[[_Notes], _Notes]) -> None:
    shared = Path(place.shared_dir)
    with files.locked(shared / LEASE_LOCK, wait=LOCK_WAIT, doing="noting what other machines did"):
        files.write_atomic(shared / name, json.dumps(changed(_read(place, name))).encode(), mode=0o600)


def _remote_key(address: str) -> str:
    # An address may carry a password.
    return hashlib.sha256(address.encode(errors="surrogateescape")).hexdigest()[:16]
