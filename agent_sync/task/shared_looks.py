"""Looks at the pull requests of a clone's idle sessions together: one request for all, whose answer they share.

Whoever falls due first asks, holding the lock; the others read what came of it. Only what is no longer as its claim
knows it is asked for by itself, by its own watcher.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError, LockHeld, RateLimited
from agent_sync.gateway.transport.address import address_of
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.system import clock, files
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.claims_seen import ClaimAsked, ClaimsSeen
from agent_sync.task.decision.facts import Facts, IssueSeen
from agent_sync.task.decision.feedback.unmoved import is_as_known
from agent_sync.task.decision.needs import next_poll_at
from agent_sync.task.watched import is_watched
from agent_sync.worktree import SHARED_LOOKS, SHARED_LOOKS_LOCK, claimed_roots, worktree

# Longer than one request takes; whoever waits in vain asks for itself.
WAIT_S = 30.0
# What falls due within this part of the backoff is looked at already now, and is due together from then on.
TAKEN_ALONG = 0.5
# So many looks in a row are shared at most: the one after them also sees what only a look of its own asks for.
MOST_IN_A_ROW = 8


@dataclass(frozen=True)
class Look:
    """What a shared look has found of one claim: which version of it was judged, when, and how often in a row."""

    judged: str
    at: datetime
    is_as_known: bool
    in_a_row: int


@dataclass(frozen=True)
class _Noted:
    """What watchers share: what was found in each worktree, and until when GitHub wants to be left alone."""

    looks: dict[str, Look]
    paused_until: datetime | None = None


@dataclass(frozen=True)
class _Watched:
    """One claim that a watcher of this clone looks at, what was said of it, and the remote that has its base branch."""

    context: Context
    claim: Claim
    told: frozenset[str]
    remote: str

    @property
    def root(self) -> str:
        return self.context.place.root


def unmoved_at(context: Context, claim: Claim) -> datetime | None:
    """Return when a shared look found a pull request as its claim knows it; None where it is to be asked by itself.

    A claim that was never looked at, or whose moment of the last look a person has taken out, is asked by itself.
    """
    if claim.last_check_poll is None:
        return None
    lock = Path(context.place.shared_dir) / SHARED_LOOKS_LOCK
    try:
        with files.locked(lock, wait=WAIT_S, doing="looking at pull requests together"):
            own, noted = _watched(context, claim), _noted(context)
            look = _fresh_look(own, noted.looks) or _asked(own, noted)
    except LockHeld:
        return None
    return look.at if look and look.is_as_known else None


def _watched(context: Context, claim: Claim) -> _Watched:
    return _Watched(context, claim, context.outbox.known_ids(), context.remotes.base)


def _fresh_look(one: _Watched, looks: Mapping[str, Look]) -> Look | None:
    """Return what was found of a claim as it is now, within this backoff and after its last look."""
    look, claim, now = looks.get(one.root), one.claim, clock.now()
    backoff = timedelta(seconds=one.context.settings.checks.backoff_s)
    if look is None or claim.last_check_poll is None or look.judged != _version(claim):
        return None
    return look if claim.last_check_poll < look.at <= now < look.at + backoff else None


def _asked(own: _Watched, noted: _Noted) -> Look | None:
    """Ask for all claims that are due, and share the answer; None where no other one is, or no answer came."""
    looks, now = noted.looks, clock.now()
    if noted.paused_until and now < noted.paused_until:
        raise RateLimited("GitHub has asked another session of this clone to wait.", until=noted.paused_until)
    others = [one for one in _neighbours(own.context) if _is_due(one, now) and not _fresh_look(one, looks)]
    if not others:
        return None
    watched = [own, *others]
    questions = [ClaimAsked(one.claim.issue_number, one.claim.pr_number) for one in watched]
    try:
        seen = own.context.gateway.claims(questions)
    except RateLimited as limit:
        _share(own.context, _Noted(looks, limit.until))
        raise
    except AgentSyncError as error:
        own.context.log.write(now, "trouble", error=str(error), what_for="looking at pull requests together")
        return None
    found = {one.root: _judged(one, seen, looks.get(one.root), now) for one in watched}
    _share(own.context, _Noted(looks | found))
    return found[own.root]


def _neighbours(context: Context) -> Iterator[_Watched]:
    """Return the claims of the clone's other worktrees that a watcher looks at, in the same repository."""
    for root in claimed_roots(context.place):
        place = worktree(root)
        if place is None or place.root == context.place.root or place.common_dir != context.place.common_dir:
            continue
        try:
            there = context_at(place, context.environment)
            claim = there.store.read()
            if claim and claim.is_pull_open and is_watched(place) and address_of(there) == address_of(context):
                yield _watched(there, claim)
        except (AgentSyncError, OSError):
            # Its own watcher says what is wrong with it.
            continue


def _is_due(one: _Watched, now: datetime) -> bool:
    claim, backoff = one.claim, one.context.settings.checks.backoff_s
    if claim.pr_number is None or claim.last_check_poll is None or claim.closed_unmerged or not claim.may_act:
        return False
    # After a limit each comes back at its own moment; the first one asks for all.
    due = max(next_poll_at(claim, now, backoff), claim.not_before or now)
    return due - now <= timedelta(seconds=backoff * TAKEN_ALONG)


def _judged(one: _Watched, seen: ClaimsSeen, before: Look | None, now: datetime) -> Look:
    """Return what an answer says of one claim."""
    claim = one.claim
    in_a_row = before.in_a_row + 1 if before and before.at == claim.last_check_poll else 1
    issue = seen.issue(claim.issue_number)
    if issue is None or issue.pull is None or in_a_row > MOST_IN_A_ROW:
        return Look(_version(claim), now, is_as_known=False, in_a_row=in_a_row)
    pull = replace(issue.pull, issue=IssueSeen(issue.is_open, issue.assignees, seen.viewer))
    facts = Facts(now, one.context.settings, told=one.told, remote=one.remote, pull=pull)
    is_known = is_as_known(claim.model_copy(update={"not_before": None}), facts)
    return Look(_version(claim), now, is_as_known=is_known, in_a_row=in_a_row)


def _version(claim: Claim) -> str:
    """Return what tells one state of a claim from another; a lease that was renewed makes no difference."""
    return hashlib.sha256(claim.model_copy(update={"lease": None}).to_json()).hexdigest()[:16]


def _noted(context: Context) -> _Noted:
    """Return what watchers share; what cannot be read says nothing."""
    try:
        values = json.loads(files.read_own(Path(context.place.shared_dir) / SHARED_LOOKS) or b"null")
        until = values["paused_until"]
        looks = {str(root): _look(noted) for root, noted in values["looks"].items()}
        return _Noted(looks, datetime.fromisoformat(until) if until else None)
    except (files.NotPlain, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _Noted({})


def _look(noted: Any) -> Look:
    at = datetime.fromisoformat(noted["at"])
    return Look(str(noted["judged"]), at, is_as_known=noted["is_as_known"] is True, in_a_row=int(noted["in_a_row"]))


def _share(context: Context, noted: _Noted) -> None:
    """Write what was found where the others read it."""
    here = set(claimed_roots(context.place))
    looks = {root: asdict(look) | {"at": look.at.isoformat()} for root, look in noted.looks.items() if root in here}
    until = noted.paused_until.isoformat() if noted.paused_until else None
    content = json.dumps({"paused_until": until, "looks": looks}).encode()
    files.write_atomic(Path(context.place.shared_dir) / SHARED_LOOKS, content)
