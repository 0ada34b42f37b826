"""Checks of claims across machines: what the remote takes, and whether the board shows who holds this claim."""

import secrets
from collections.abc import Iterator

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadClaim, BadConfig
from agent_sync.gateway.transport.remotes import base_remote
from agent_sync.leases.claim_refs import known_refs, read_claims, refused_since, transport_here
from agent_sync.leases.fence import lease_stop
from agent_sync.leases.refs.git_pushes import push_trouble
from agent_sync.leases.refs.values import CLAIMS, PROBES
from agent_sync.leases.results import Unreadable
from agent_sync.leases.words import scope, way_out
from agent_sync.setup.doctor.result import Result, fail, ok, skip, warn
from agent_sync.system import clock
from agent_sync.system.git_refusals import is_sign_in_trouble, no_remote, sign_in_help
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task

PROBE_LIMIT = 20.0
_MOST_NAMED = 20


def check_leases(context: Context) -> Iterator[Result]:
    """Ask whether git may push, then look at the claim held here; nothing is written."""
    try:
        yield check_refs(context)
        branches = check_branches(context)
        if branches:
            yield branches
        claims = check_claims(context)
        if claims:
            yield claims
        claim = context.store.read()
    except BadClaim:
        # The check of the claim file has said so.
        return
    except AgentSyncError as error:
        yield skip("claim refs", error.happened, error.helps or "agent-sync doctor")
        return
    if claim and claim.lease:
        yield check_lease(context, claim)


def check_refs(context: Context) -> Result:
    """Check for whom claims hold that are made here, as far as that can be told without a push."""
    remote = context.remotes.base
    if context.settings.lease.where == "clone":
        return ok("claim refs", f"not tried: {scope('clone', remote=remote, reason='the settings say so')}")
    configured = base_remote(context)
    if configured is None:
        others = context.git.remotes()
        missing = no_remote(remote, others)
        here = scope("clone", remote=remote, reason=f"there is no remote {remote}")
        return warn("claim refs", missing.happened if others else here, missing.helps)
    since = refused_since(context.place, configured.push_url, clock.now())
    scratch = f"{PROBES}{secrets.token_hex(16)}"
    url, limit = configured.push_url, PROBE_LIMIT
    trouble = push_trouble(context.git, configured.address, scratch, url=url, limit_s=limit)
    if context.remotes.fork and is_sign_in_trouble(trouble):
        says = f"you may not write to {remote}: from this fork claims hold for this clone only, by your word"
        return warn("claim refs", says, 'agent-sync claim ISSUE --local, or lease.where = "clone" in your settings')
    return _push_result(remote, url, trouble, is_known_to_refuse=since is not None)


def check_claims(context: Context) -> Result | None:
    """Check that every claim ref can be used; where the remote does not answer, another check has said so."""
    try:
        transport = transport_here(context, limit_s=PROBE_LIMIT)
    except BadConfig:
        return None
    if transport.fetch([CLAIMS]):
        return None
    found = read_claims(transport, known_refs(transport))
    spoilt = [one for one in found if isinstance(one, Unreadable)]
    if not spoilt:
        return ok("claims", f"{len(found)} claim ref{'' if len(found) == 1 else 's'}, all readable")
    names = ", ".join(f"#{one.issue}" for one in spoilt[:_MOST_NAMED])
    more = f" and {len(spoilt) - _MOST_NAMED} more" if len(spoilt) > _MOST_NAMED else ""
    first = spoilt[0]
    says = f"the claim refs of {names}{more} cannot be used: {one_line(first.unknown.reason, limit=200)}"
    return warn("claims", says, way_out(first.issue, first.unknown.doubt))


def check_branches(context: Context) -> Result | None:
    """Check that git may push to the fork that takes the branches, where one does."""
    remote = context.git.remote(context.remotes.push) if context.remotes.fork else None
    if remote is None:
        return None
    scratch, url = f"refs/heads/{PROBES.rpartition('refs/')[2]}{secrets.token_hex(16)}", remote.push_url
    trouble = push_trouble(context.git, remote.name, scratch, url=url, limit_s=PROBE_LIMIT)
    if trouble:
        return fail("branches", f"{remote.name}: {one_line(trouble, limit=200)}", sign_in_help(url))
    return ok("branches", f"git may push to {context.remotes.fork}")


def _push_result(remote: str, address: str, trouble: str, *, is_known_to_refuse: bool) -> Result:
    if is_sign_in_trouble(trouble):
        says = f"git may not push to {remote}, so claims cannot be shared: {one_line(trouble, limit=200)}"
        return fail("claim refs", says, sign_in_help(address))
    if trouble:
        return skip("claim refs", f"{remote}: {one_line(trouble, limit=200)}", "agent-sync doctor, a little later")
    if is_known_to_refuse:
        says = f"{remote} has refused claim refs that git pushed; they go through GitHub's interface"
        return warn("claim refs", says, "agent-sync doctor --live")
    return ok("claim refs", f"git may push to {remote}; `agent-sync doctor --live` tries what becomes of claim refs")


def check_lease(context: Context, claim: Claim) -> Result:
    """Check that the claim here is still ours, and that GitHub shows so; the ref is right, the board only shows."""
    match lease_stop(context, claim):
        case LeaseLost(lost_to):
            return warn("lease", f"issue #{claim.issue_number} is held by {lost_to}", "agent-sync release")
        case LeftOnHook(worker):
            return ok("lease", f"issue #{claim.issue_number} was left on the hook of {worker}")
        case LeaseUnknown(reason):
            return skip("lease", reason, "agent-sync doctor, a little later")
        case None:
            return _mirror(context, claim)


def _mirror(context: Context, claim: Claim) -> Result:
    try:
        wrong = differences(claim, context.gateway.task(claim.issue_number))
    except AgentSyncError as error:
        return skip("lease", f"held here; GitHub cannot be asked what it shows: {error.happened}")
    if wrong:
        return warn("lease", f"held here, but {'; '.join(wrong)}", "agent-sync sync, or agent-sync status")
    return ok("lease", f"issue #{claim.issue_number} is held here, and GitHub shows it")


def differences(claim: Claim, task: Task) -> list[str]:
    """Return what GitHub shows of a claim otherwise than its lease says."""
    found = []
    agent = task.card.agent if isinstance(task.card, Card) else claim.agent_id
    if agent != claim.agent_id:
        found.append(f"the Agent field says {one_line(agent or 'nothing', limit=60)}")
    if task.viewer.login not in task.assignees:
        found.append(f"the issue is assigned to {', '.join(map(one_line, task.assignees)) or 'nobody'}")
    return found
