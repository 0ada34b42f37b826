"""Checks of claims across machines: what the remote takes, and whether the board shows who holds this claim."""

from collections.abc import Iterator

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError, BadClaim
from agent_sync.leases.fence import stopped
from agent_sync.leases.keeper import RemoteKeeper
from agent_sync.leases.refs.probe import Probe
from agent_sync.leases.words import scope
from agent_sync.setup.doctor.result import Result, ok, skip, warn
from agent_sync.system import clock
from agent_sync.system.git import no_remote
from agent_sync.task.claim.model import Claim
from agent_sync.task.decision.actions import LeaseLost, LeaseUnknown, LeftOnHook
from agent_sync.task.decision.facts import Card
from agent_sync.task.decision.outside_text import one_line
from agent_sync.task.decision.tasks import Task

PROBE_LIMIT = 20.0


def check_leases(context: Context) -> Iterator[Result]:
    """Try the remote with a scratch ref, then look at the claim held here."""
    try:
        yield check_refs(context)
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
    """Check for whom claims hold that are made here."""
    remote = context.settings.git.remote
    if context.settings.lease.where == "clone":
        return ok("claim refs", f"not tried: {scope('clone', remote=remote, reason='the settings say so')}")
    configured = context.git.remote(remote)
    if configured is None:
        others = context.git.remotes()
        missing = no_remote(remote, others)
        here = scope("clone", remote=remote, reason=f"there is no remote {remote}")
        return warn("claim refs", missing.happened if others else here, missing.helps)
    found = RemoteKeeper(context.git, context.place, configured, limit_s=PROBE_LIMIT).probe(clock.now())
    return _probed(remote, found)


def _probed(remote: str, found: Probe) -> Result:
    steps = ", ".join(step.name for step in found.steps)
    if found.is_accepted:
        return ok("claim refs", f"{steps}: {remote} takes them. {scope('remote', remote=remote)}")
    failed = found.steps[-1]
    reason = f"{remote} {'refused' if found.is_refused else 'did not answer'} at {failed.name}"
    says = f"{scope('clone', remote=remote, reason=reason)} {one_line(failed.text, limit=200)}"
    if found.is_refused:
        return warn("claim refs", says, "allow refs/agentsync/* on the server, or agent-sync doctor later")
    return skip("claim refs", says, "agent-sync doctor, a little later")


def check_lease(context: Context, claim: Claim) -> Result:
    """Check that the claim here is still ours, and that GitHub shows so; the ref is right, the board only shows."""
    match stopped(context, claim):
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
