"""Tries what a remote takes: makes, moves and deletes a scratch ref, and reports each step."""

import secrets

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.leases.refs.api_transport import ApiTransport
from agent_sync.leases.refs.values import PROBES, NewCommit, Pushed, PushResult, RefTransport, RefUpdate, Where
from agent_sync.system.git_refusals import push_rule

# How GitHub says that a token or a person may not write here, in REST and in GraphQL.
_NO_RIGHT = pattern(r"not accessible by|must have (?:push|write)|not have (?:the correct )?permission|requires? ")


@dataclass(frozen=True)
class ProbeStep:
    """One step of a probe: whether it worked, and what git said if not."""

    name: str
    result: PushResult
    text: str = ""


@dataclass(frozen=True)
class Probe:
    """What a remote did with a scratch ref."""

    steps: tuple[ProbeStep, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether every step worked."""
        return all(step.result is PushResult.LANDED for step in self.steps)

    @property
    def is_refused(self) -> bool:
        """Whether the remote was there and said no."""
        return any(step.result is PushResult.REJECTED for step in self.steps)


def probe(transport: RefTransport) -> Probe:
    """Make, move and delete a scratch ref, and try to move it from where it no longer is.

    What follows a step that failed is not tried.
    """
    name = secrets.token_hex(16)
    # Not a child of the first: renewals need a remote that lets a ref move sideways.
    first, second = (transport.write(NewCommit(f"Probe {name}, {word}\n")) for word in ("made", "moved"))
    ref, steps = f"{PROBES}{name}", list[ProbeStep]()
    for word, old, new in (
        ("create", "", first),
        ("move", first, second),
        ("stale", first, first),
        ("delete", second, ""),
    ):
        pushed = transport.swap([RefUpdate(ref, old, new)])
        steps.append(_stale_step(pushed) if word == "stale" else _step(word, pushed))
        if steps[-1].result is not PushResult.LANDED:
            break
    return Probe(tuple(steps))


def _step(word: str, pushed: Pushed) -> ProbeStep:
    is_landed = pushed.result is PushResult.LANDED
    return ProbeStep(word, pushed.result, "" if is_landed else pushed.text)


def _stale_step(pushed: Pushed) -> ProbeStep:
    """Return whether a change from a value that no longer is there was refused, as it must be."""
    if pushed.result is PushResult.LANDED:
        return ProbeStep("refuse a stale change", PushResult.REJECTED, "a change from an old value was taken")
    return ProbeStep("refuse a stale change", PushResult.LANDED)


def refuses_all_refs(transport: RefTransport, pushed: Pushed, commit: str) -> bool:
    """Tell whether no ref of ours can be made there: only a clear no to a scratch ref too means that."""
    if transport.where is Where.CLONE:
        return False
    if isinstance(transport, ApiTransport):
        # Where refs go through the interface none may be deletable, so that no scratch ref is made: the words decide.
        return push_rule(pushed.text) is not None or bool(_NO_RIGHT.search(pushed.text))
    scratch = f"{PROBES}{secrets.token_hex(16)}"
    made = transport.swap([RefUpdate(scratch, "", commit)])
    if made.result is PushResult.LANDED:
        transport.swap([RefUpdate(scratch, commit, "")])
    return made.result is PushResult.REJECTED
