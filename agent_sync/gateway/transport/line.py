"""One repository's GitHub as one token reaches it: sends documents, counts, and lets only our own errors out."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from datetime import timedelta
from functools import cache, cached_property, wraps
from pathlib import Path as FilePath
from types import FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from agent_sync.errors import (
    Conflict,
    GitHubDown,
    GitHubError,
    MissingScope,
    NotFound,
    NotSignedIn,
    OddAnswer,
    RateLimited,
    Refused,
    TooHeavy,
)
from agent_sync.gateway.transport.address import Endpoint, Repository, address_of
from agent_sync.gateway.transport.answer import TOO_HEAVY, AnswerError, GraphQLAnswer, Json, Path
from agent_sync.gateway.transport.refusals import Policy, Refusal, known_refusal, lacks_permission, needed_scopes
from agent_sync.gateway.transport.token import Area, Token, TokenKind, advice, find_token
from agent_sync.gateway.transport.trouble import (
    UNSAID_WAIT_S,
    FailedRequest,
    Trouble,
    TroubleKind,
    is_broken,
    is_secondary_message,
    one_line,
)
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.settings import Settings
from agent_sync.system import clock

if TYPE_CHECKING:
    from agent_sync.context import Context
    from agent_sync.gateway.transport.budget import ApiBudget
    from agent_sync.gateway.transport.wire import Patience, Sleep, Wire

_QUERIES = FilePath(__file__).parent.parent / "queries"
_SPREAD = pattern(r"\.\.\.([A-Z]\w*)")


@dataclass
class Counter:
    """How many requests have gone out, repeated ones included."""

    # What is around every request: nothing, unless somebody wants to see what is sent.
    around: ClassVar[Callable[[str], AbstractContextManager[Any]]] = nullcontext
    requests: int = 0
    # The headers of the last answer of the GraphQL interface, which state what is left.
    limits: Mapping[str, str] = field(default_factory=dict)

    def add(self) -> None:
        """Count one."""
        self.requests += 1


@cache
def document(name: str) -> str:
    """Return one operation and every fragment it spreads, directly or through another one."""
    return with_fragments((_QUERIES / f"{name}.graphql").read_text("utf-8"))


def with_fragments(operation: str) -> str:
    """Return the text of an operation and every fragment it spreads."""
    texts = [operation]
    known: set[str] = set()
    for text in texts:
        for fragment in dict.fromkeys(_SPREAD.findall(text)):
            if fragment not in known:
                known.add(fragment)
                texts.append((_QUERIES / "fragments" / f"{fragment}.graphql").read_text("utf-8"))
    return "\n".join(texts)


@dataclass(frozen=True)
class Call:
    """One request: which document with which values, what it is for, and whether it changes anything."""

    document: str
    variables: dict[str, Any] = field(default_factory=dict)
    attempted: str = ""
    area: Area = Area.REPOSITORY
    is_write: bool = False
    # The operation itself, where it is made for this call and is no file.
    operation: str = ""

    @property
    def name(self) -> str:
        """What is asked, in a word or two."""
        words = self.operation.partition("(")[0] if self.operation else self.document
        return words.strip() or "REST"

    @property
    def text(self) -> str:
        """What is sent: the operation and its fragments."""
        return with_fragments(self.operation) if self.operation else document(self.document)


@dataclass(frozen=True)
class Failures:
    """Makes errors for one token on one GitHub."""

    token_kind: TokenKind
    host: str

    @contextmanager
    def as_our_errors(self, call: Call) -> Iterator[None]:
        """Let no failed request out as anything but an error of ours."""
        try:
            yield
        except FailedRequest as failed:
            raise self.of_trouble(failed.trouble, call) from None

    def of_trouble(self, trouble: Trouble, call: Call) -> GitHubError:
        """Return the error for a request that failed as a whole."""
        happened, attempted = trouble.happened, call.attempted
        match trouble.kind:
            case TroubleKind.SIGN_IN:
                helps = f"gh auth login --hostname {self.host}, or a new GH_TOKEN"
                return NotSignedIn(happened, attempted=attempted, helps=helps)
            case TroubleKind.FORBIDDEN:
                if trouble.refusal:
                    return self._known_refusal(trouble.refusal, happened, call)
                if self.has_permissions and trouble.permissions:
                    return self._missing_scope(happened, call, call.area, permission=trouble.permissions)
                if trouble.scopes:
                    return self._missing_scope(happened, call, call.area, trouble.scopes)
                return self._unexplained(happened, call, call.area)
            case TroubleKind.MISSING:
                return NotFound(happened, attempted=attempted, helps="agent-sync doctor")
            case TroubleKind.CONFLICT:
                return Conflict(happened, attempted=attempted)
            case TroubleKind.REFUSED:
                return Refused(happened, attempted=attempted)
            case TroubleKind.LIMITED:
                wait_s = trouble.limit.wait_s if trouble.limit else UNSAID_WAIT_S
                return self._rate_limited(happened, call, wait_s)
            case TroubleKind.UNTRUSTED:
                from agent_sync.gateway.transport.certificates import HELPS

                return GitHubDown(happened, attempted=attempted, helps=HELPS)
            case TroubleKind.ODD:
                return self.odd(call)
            case TroubleKind.NOT_SENT | TroubleKind.LOST:
                return self._down(trouble, call)

    @property
    def has_permissions(self) -> bool:
        """Whether a token of this kind is granted permissions, and not scopes."""
        return self.token_kind in {TokenKind.FINE_GRAINED, TokenKind.APP}

    def odd(self, call: Call, request: str = "") -> OddAnswer:
        """Return that an answer is not what GitHub promises, and what was asked."""
        asked = ", ".join(filter(None, [call.name, f"request {one_line(request)}" if request else ""]))
        return OddAnswer(
            f"GitHub's answer is not what it promises ({asked}).",
            maybe_applied=call.is_write,
            attempted=call.attempted,
            helps="agent-sync doctor, or again later; https://www.githubstatus.com tells of GitHub's own trouble",
        )

    def of_part(self, part: AnswerError, call: Call, *, area: Area | None = None) -> GitHubError:
        """Return the error for one part of an answer that failed alone."""
        happened = one_line(part.message)
        if part.kind == "RATE_LIMITED" or is_secondary_message(part.message):
            return self._rate_limited(f"GitHub's rate limit is reached: {happened}", call, UNSAID_WAIT_S)
        if is_broken(part):
            return GitHubDown(
                f"GitHub had an internal error: {happened}", maybe_applied=call.is_write, attempted=call.attempted
            )
        match part.kind:
            case kind if kind == TOO_HEAVY:
                message = f"GitHub finds this too much for one question: {happened}"
                return TooHeavy(message, attempted=call.attempted, helps="run the same command again later")
            case "NOT_FOUND":
                return NotFound(happened, attempted=call.attempted, helps=_where_numbers_are(call))
            case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                return self._forbidden(part, call, area or call.area)
            case _:
                return Refused(happened, attempted=call.attempted)

    def _forbidden(self, part: AnswerError, call: Call, area: Area) -> GitHubError:
        """Return why a part is kept from the token: a policy, a scope GitHub names, or what it says and no more."""
        said, needed = f"GitHub answered: {one_line(part.message)}", needed_scopes(part.message)
        known = known_refusal(part.message, sign_on=part.sign_on)
        if known:
            return self._known_refusal(known, said, call)
        if needed:
            return self._missing_scope("GitHub answered: the token's scopes do not suffice.", call, area, needed)
        if part.kind == "INSUFFICIENT_SCOPES":
            return self._missing_scope(said, call, area)
        return self._unexplained(said, call, area)

    def _unexplained(self, said: str, call: Call, area: Area) -> MissingScope:
        """Return a refusal that names no cause: a permission only where GitHub speaks of one, and never a guess."""
        if lacks_permission(said) and self.has_permissions:
            return self._missing_scope(said, call, area)
        return MissingScope(said, scope="", attempted=call.attempted, helps="agent-sync doctor --live")

    def _known_refusal(self, known: Refusal, said: str, call: Call) -> GitHubError:
        if known.policy is Policy.ARCHIVED:
            return Refused(said, attempted=call.attempted, helps=known.helps)
        return MissingScope(said, scope="", attempted=call.attempted, helps=known.helps)

    def _missing_scope(
        self, said: str, call: Call, area: Area, needed: tuple[str, ...] = (), *, permission: str = ""
    ) -> MissingScope:
        found = advice(self.token_kind, area, needed, permission=permission)
        happened = f"{said.rstrip('.')}. {found.why}"
        return MissingScope(happened, scope=found.scope, attempted=call.attempted, helps=found.helps)

    def _rate_limited(self, happened: str, call: Call, wait_s: float) -> RateLimited:
        until = clock.now() + timedelta(seconds=wait_s)
        return RateLimited(happened, until=until, attempted=call.attempted, helps=f"wait until {until:%H:%M:%S} UTC")

    def _down(self, trouble: Trouble, call: Call) -> GitHubDown:
        maybe_applied = call.is_write and trouble.kind is TroubleKind.LOST
        happened = trouble.happened
        if maybe_applied:
            happened += " It may have been done anyway; the next check will show."
        return GitHubDown(
            happened,
            maybe_applied=maybe_applied,
            attempted=call.attempted,
            helps="run the same command again a little later",
        )


def _where_numbers_are(call: Call) -> str:
    """Return the commands that show and set a number that leads to nothing."""
    if call.area is Area.BOARD:
        owner = call.variables.get("boardOwner") or "OWNER"
        return f"agent-sync config set project.number N; gh project list --owner {owner} shows the numbers"
    return "check the number; agent-sync next lists what can be claimed"


# What reading an answer ends with that has other keys or types than GitHub promises.
_MISREAD = (TypeError, KeyError, AttributeError, IndexError, ValueError)


def _understood(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method of a line tell an answer that it could not read as one error of ours."""

    def error_of(line: "Line", error: Exception) -> Exception:
        if line.asked is None:
            # Nothing was answered: a mistake of our own.
            return error
        return line.failures.odd(line.asked, line.counter.limits.get("x-github-request-id", ""))

    @wraps(method)
    def call(line: "Line", *arguments: Any, **named: Any) -> Any:
        try:
            found = method(line, *arguments, **named)
        except _MISREAD as error:
            raise error_of(line, error) from error
        return pages(line, found) if isinstance(found, GeneratorType) else found

    def pages(line: "Line", found: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from found
        except _MISREAD as error:
            raise error_of(line, error) from error

    return call


@dataclass
class Line:
    """One repository on one GitHub, as one token reaches it; nothing is connected before the first call."""

    repository: Repository
    endpoint: Endpoint
    token: Token
    settings: Settings
    sleep: "Sleep | None" = None
    # The repository that takes the branches, as `owner/name`, where it is a fork of this one.
    fork: str = ""
    counter: Counter = field(default_factory=Counter, init=False)
    # Who owns the board, once an answer has told that the repository's owner has another name.
    board_owner: str = field(default="", init=False)
    # What was last asked, for an answer that cannot be read.
    asked: Call | None = field(default=None, init=False)

    def __init_subclass__(cls) -> None:
        """Let no public method end with anything but an error of ours, whatever GitHub answers."""
        super().__init_subclass__()
        for name, value in list(vars(cls).items()):
            if isinstance(value, cached_property):
                value.func = _understood(value.func)
            elif isinstance(value, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _understood(value))

    @classmethod
    def reaching(cls, context: "Context", *, sleep: "Sleep | None" = None) -> Self:
        """Return GitHub as a worktree reaches it; nothing is sent before the first question."""
        repository, endpoint = address_of(context)
        token = find_token(endpoint, context.environment, context.processes, directory=context.place.root)
        return cls(repository, endpoint, token, context.settings, sleep, context.remotes.fork)

    @property
    def requests(self) -> int:
        """How many requests have gone out so far, repeated ones included."""
        return self.counter.requests

    @property
    def budget(self) -> "ApiBudget | None":
        """What is left of this hour's points, as the last answer stated it."""
        from agent_sync.gateway.transport.budget import budget_in

        return budget_in(self.counter.limits)

    @property
    def budget_key(self) -> str:
        """What stands for this token on this GitHub, wherever its budget is noted; it tells nothing of the token."""
        return hashlib.sha256(f"{self.endpoint.host}\0{self.token.secret}".encode()).hexdigest()[:16]

    @property
    def names(self) -> dict[str, str]:
        """The variables that name the repository."""
        return {"owner": self.repository.owner, "name": self.repository.name}

    @cached_property
    def failures(self) -> Failures:
        """Turns what goes wrong into errors of ours."""
        return Failures(self.token.kind, self.endpoint.host)

    @cached_property
    def patience(self) -> "Patience":
        """How long limits may still be waited for."""
        from agent_sync.gateway.transport.wire import Patience

        left_s = self.settings.hooks.rate_limit_wait_s
        return Patience(left_s, self.sleep) if self.sleep else Patience(left_s)

    @cached_property
    def wire(self) -> "Wire":
        """The connection, made when it is first needed."""
        from agent_sync.gateway.transport.wire import Wire

        return Wire(self.endpoint, self.token, timeout_s=self.settings.github.timeout_s, counter=self.counter)

    def send(self, call: Call) -> GraphQLAnswer:
        """Send one document and return the answer, even where parts of it failed."""
        self.asked = call
        with self.failures.as_our_errors(call):
            return self.patience.persist(lambda: self.wire.send(call.text, call.variables), is_write=call.is_write)

    def ask(self, call: Call, *optional: Path) -> GraphQLAnswer:
        """Send a question; an error about anything but the optional places is raised."""
        return self.require(self.send(call), call, *optional)

    def require(self, answer: GraphQLAnswer, call: Call, *optional: Path) -> GraphQLAnswer:
        """Return the answer if nothing but the optional places failed in it."""
        part = answer.too_heavy or answer.trouble_outside(*optional)
        if part:
            raise self.failures.of_part(part, call)
        return answer


def thing_at(answer: GraphQLAnswer, call: Call, *place: str) -> Json:
    """Return what must be at a place; GitHub answers null for what this token may not see."""
    found = answer.at(*place)
    if not isinstance(found, dict):
        message = f"GitHub shows no {place[-1]} there; it does not exist, or this token may not see it."
        raise NotFound(message, attempted=call.attempted, helps="agent-sync doctor")
    return found
