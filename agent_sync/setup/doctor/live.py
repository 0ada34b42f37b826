"""What works with this token on this repository, tried: scratch refs by git and by the interface, reads and writes."""

from collections.abc import Iterator

from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.gateway.abilities import Ability
from agent_sync.gateway.transport.remotes import base_remote
from agent_sync.leases.claim_refs import connection
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.refs.api_transport import api_of
from agent_sync.leases.refs.probe import Probe, probe
from agent_sync.leases.refs.transports import RemoteTransport
from agent_sync.setup.doctor.result import Mark, Result, fail, ok, skip, warn
from agent_sync.system import clock
from agent_sync.system.git_refusals import is_sign_in_trouble, push_rule, rule_help, sign_in_help
from agent_sync.task.decision.outside_text import one_line

PROBE_LIMIT = 20.0
# Without these nothing can be claimed or handed off; the rest only shows less.
_NEEDED = frozenset({"read issues", "write issues", "open pull requests"})


def check_live(context: Context) -> Iterator[Result]:
    """Try everything, and say in one line each what will and what will not work."""
    try:
        for ability in context.gateway.abilities():
            yield _ability_result(ability)
        yield _board_result(context)
    except AgentSyncError as error:
        yield fail("live", error.happened, error.helps or "agent-sync doctor")
    yield from _refs(context)


def _ability_result(ability: Ability) -> Result:
    name, says = f"live: {ability.name}", one_line(ability.says, limit=300)
    if ability.works:
        return ok(name, says or "works")
    if ability.works is None:
        return skip(name, says, ability.helps)
    made = fail if ability.name in _NEEDED else warn
    return made(name, f"does not work: {says}", ability.helps or "see docs/permissions.md")


def _board_result(context: Context) -> Result:
    name = "live: board"
    if context.settings.project.number is None:
        return skip(name, "none is configured", "set project.number in .agent-sync.toml")
    try:
        boards = context.gateway.boards()
    except AgentSyncError as error:
        return warn(name, f"does not work: {one_line(error.happened, limit=300)}", error.helps)
    if not boards:
        return warn(name, "does not work: this token does not see it", "see docs/permissions.md")
    return ok(name, "works")


def _refs(context: Context) -> Iterator[Result]:
    configured = base_remote(context)
    if configured is None:
        return
    by_git = RemoteTransport(context.git, configured, PROBE_LIMIT)
    yield _probe_result("live: claims by git", LeaseKeeper(by_git, context.place).probe(clock.now()), by_git.url)
    connect = connection(context)
    if connect is None:
        return
    try:
        found = probe(api_of(by_git, connect))
    except AgentSyncError as error:
        yield warn("live: claims by API", f"does not work: {one_line(error.happened, limit=300)}", error.helps)
        return
    yield _probe_result("live: claims by API", found, "")


def _probe_result(name: str, found: Probe, address: str) -> Result:
    steps = ", ".join(step.name for step in found.steps)
    if found.is_accepted:
        return ok(name, f"works ({steps})")
    failed = found.steps[-1]
    says = f"does not work, at {failed.name}: {one_line(failed.text, limit=300)}"
    rule = push_rule(failed.text)
    if rule:
        return Result(name, Mark.WARN, says, rule_help(rule))
    if address and is_sign_in_trouble(failed.text):
        return fail(name, says, sign_in_help(address))
    return warn(name, says, "allow refs/agentsync/* on the server" if found.is_refused else "agent-sync doctor, later")
