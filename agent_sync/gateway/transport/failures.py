"""Turns what went wrong on the wire into the errors the rest of agent-sync knows."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from agent_sync.errors import (
    Conflict,
    GitHubDown,
    GitHubError,
    MissingScope,
    NotFound,
    NotSignedIn,
    RateLimited,
    Refused,
)
from agent_sync.gateway.transport.answer import Part
from agent_sync.gateway.transport.limits import UNSAID_WAIT_S, is_secondary_message
from agent_sync.gateway.transport.tokens import Area, TokenKind, advice
from agent_sync.gateway.transport.trouble import FailedRequest, Kind, Trouble, is_broken, one_line
from agent_sync.system import clock

_NEEDED = re.compile(r"requires one of the following scopes: \[([^\]]*)\]")


@dataclass(frozen=True)
class Call:
    """One request: which document with which values, what it is for, and whether it changes anything."""

    document: str
    variables: dict[str, Any] = field(default_factory=dict)
    attempted: str = ""
    area: Area = Area.REPOSITORY
    is_write: bool = False


@dataclass(frozen=True)
class Failures:
    """Makes errors for one token on one GitHub."""

    token_kind: TokenKind
    host: str

    @contextmanager
    def told(self, call: Call) -> Iterator[None]:
        """Let no failed request out as anything but an error of ours."""
        try:
            yield
        except FailedRequest as failed:
            raise self.of_trouble(failed.trouble, call) from None

    def of_trouble(self, trouble: Trouble, call: Call) -> GitHubError:
        """Return the error for a request that failed as a whole."""
        happened, attempted = trouble.happened, call.attempted
        match trouble.kind:
            case Kind.SIGN_IN:
                helps = f"gh auth login --hostname {self.host}, or a new GH_TOKEN"
                return NotSignedIn(happened, attempted=attempted, helps=helps)
            case Kind.FORBIDDEN:
                return self._missing_scope(happened, call, scope=trouble.scope, helps=trouble.helps)
            case Kind.MISSING:
                return NotFound(happened, attempted=attempted, helps="agent-sync doctor")
            case Kind.CONFLICT:
                return Conflict(happened, attempted=attempted)
            case Kind.REFUSED:
                return Refused(happened, attempted=attempted)
            case Kind.LIMITED:
                wait_s = trouble.limit.wait_s if trouble.limit else UNSAID_WAIT_S
                return self._limited(happened, call, wait_s)
            case Kind.NOT_SENT | Kind.LOST:
                return self._down(trouble, call)

    def of_part(self, part: Part, call: Call, *, area: Area | None = None) -> GitHubError:
        """Return the error for one part of an answer that failed alone."""
        happened = one_line(part.message)
        if part.kind == "RATE_LIMITED" or is_secondary_message(part.message):
            return self._limited(f"GitHub's rate limit is reached: {happened}", call, UNSAID_WAIT_S)
        if is_broken(part):
            return GitHubDown(
                f"GitHub had an internal error: {happened}", maybe_applied=call.is_write, attempted=call.attempted
            )
        match part.kind:
            case "NOT_FOUND":
                return NotFound(happened, attempted=call.attempted, helps="check the number, or see `agent-sync board`")
            case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                needed = _NEEDED.search(part.message)
                scope = needed[1].replace("'", "").replace('"', "") if needed else ""
                said = "GitHub answered: " + (happened if not needed else "the token's scopes do not suffice.")
                return self._missing_scope(said, call, scope=scope, area=area)
            case _:
                return Refused(happened, attempted=call.attempted)

    def _missing_scope(
        self, said: str, call: Call, *, scope: str = "", helps: str = "", area: Area | None = None
    ) -> MissingScope:
        found = advice(self.token_kind, area or call.area)
        happened = f"{said.rstrip('.')}. {found.why}"
        return MissingScope(happened, scope=scope or found.scope, attempted=call.attempted, helps=helps or found.helps)

    def _limited(self, happened: str, call: Call, wait_s: float) -> RateLimited:
        until = clock.now() + timedelta(seconds=wait_s)
        return RateLimited(happened, until=until, attempted=call.attempted, helps=f"wait until {until:%H:%M:%S} UTC")

    def _down(self, trouble: Trouble, call: Call) -> GitHubDown:
        maybe_applied = call.is_write and trouble.kind is Kind.LOST
        happened = trouble.happened
        if maybe_applied:
            happened += " It may have been done anyway; the next check will show."
        return GitHubDown(
            happened, maybe_applied=maybe_applied, attempted=call.attempted, helps="agent-sync sync, a little later"
        )
