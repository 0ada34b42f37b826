"""Every error agent-sync raises on purpose, as one tree, with its code and exit status in one place.

AgentSyncError                (what helps with each: cli/trouble.py)
 ├─ typed      BadInput (BadUsage), WrongState, BadConfig, Interrupted, HumansOnly; Unexpected is a bug of ours
 ├─ claim      BadClaim (ClaimTooNew, ClaimUnsafe), ClaimGone, LockHeld, BadLease (LeaseTooNew), LeaseUnsettled
 ├─ record     BadRecord, RecordUnavailable, NoRecord, IllegalMove, BadKey, BadReceipt, NoReceipt
 ├─ work hook  BadHook (HookTooNew), IllegalHookMove, HookBusy
 └─ outside    GitFailed (GitDenied), DiskTrouble (an OSError too), GitHubError and what is below it
"""

from datetime import datetime
from enum import IntEnum
from typing import Self


class Exit(IntEnum):
    """Every exit code of a command, in one list."""

    OK = 0, "it worked"
    FAILED = 1, "it failed: the error says why"
    USAGE = 2, "the arguments are wrong: see --help"
    LOST = 3, "someone else holds it; nothing was changed"
    SIGN_IN = 4, "the token is missing, not accepted, or lacks a scope"
    INVALID = 5, "a signature or a record did not verify"
    MISSING = 6, "what was asked for does not exist: an issue, a record, a receipt, a key"
    PENDING = 8, "not finished: run the same command again later"
    UNEXPECTED = 70, "a bug in agent-sync: a report was written"
    INTERRUPTED = 130, "interrupted by Ctrl-C"

    meaning: str

    def __new__(cls, number: int, meaning: str) -> Self:
        """Make a member that is its number and knows what that means."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        return member


class AgentSyncError(Exception):
    """Something went wrong in a way its reader can act on."""

    code = "error"
    exit_status: Exit = Exit.FAILED

    def __init__(self, happened: str, *, attempted: str = "", helps: str = "") -> None:
        super().__init__(happened)
        self.happened = happened
        self.attempted = attempted
        self.helps = helps

    def __str__(self) -> str:
        attempted = f" (while {self.attempted})" if self.attempted else ""
        return f"{self.happened}{attempted}" + (f" Try: {self.helps}" if self.helps else "")


class BadInput(AgentSyncError):
    """What was typed or piped in cannot be used."""

    code = "bad-input"
    exit_status = Exit.USAGE


class WrongState(AgentSyncError):
    """The arguments are fine; the repository, the claim or the working tree is in no state for it."""

    code = "wrong-state"


class BadUsage(BadInput):
    """There is no such command, option or argument."""

    code = "usage"


class Interrupted(AgentSyncError):
    """The command was interrupted by Ctrl-C, or its input ended where a question was asked."""

    code = "interrupted"
    exit_status = Exit.INTERRUPTED


class Unexpected(AgentSyncError):
    """A bug in agent-sync: a report was written."""

    code = "unexpected"
    exit_status = Exit.UNEXPECTED


class BadConfig(AgentSyncError):
    """The settings file or an environment variable is wrong."""

    code = "bad-config"


class BadClaim(AgentSyncError):
    """The claim file cannot be used as it is; it is kept byte for byte."""

    code = "bad-claim"


class ClaimTooNew(BadClaim):
    """The claim file was written by a newer agent-sync."""

    code = "claim-too-new"


class ClaimUnsafe(BadClaim):
    """The claim file is a symbolic link, not a plain file, owned by someone else, or tracked by git."""

    code = "claim-unsafe"


class BadKey(AgentSyncError):
    """The key that signs receipts is missing or cannot be used as it is; it is never replaced by a new one."""

    code = "bad-key"
    exit_status = Exit.MISSING


class BadReceipt(AgentSyncError):
    """What should be a receipt does not have a receipt's fields."""

    code = "bad-receipt"
    exit_status = Exit.INVALID


class NoReceipt(AgentSyncError):
    """There is no such receipt, or no such file with receipts."""

    code = "no-receipt"
    exit_status = Exit.MISSING


class BadLease(AgentSyncError):
    """A claim ref holds something that cannot be used; it is left as it is."""

    code = "bad-lease"


class LeaseTooNew(BadLease):
    """A claim ref was written by a newer agent-sync."""

    code = "lease-too-new"


class ClaimGone(AgentSyncError):
    """The claim file was deleted while a step ran; it is not brought back."""

    code = "claim-gone"


class LockHeld(AgentSyncError):
    """Another agent-sync process is at work on the same thing."""

    code = "lock-held"
    exit_status = Exit.PENDING


class DiskTrouble(AgentSyncError, OSError):
    """The disk would not take one of our files; what was there before is unchanged."""

    code = "disk"


class BadRecord(AgentSyncError):
    """A recovery record cannot be used as it is; a copy of it is kept."""

    code = "bad-record"


class RecordUnavailable(AgentSyncError):
    """The disk would not read or write a recovery record: full, broken, read-only or not ours."""

    code = "record-unavailable"


class NoRecord(AgentSyncError):
    """No task is recorded for this worktree."""

    code = "no-record"
    exit_status = Exit.MISSING


class IllegalMove(AgentSyncError):
    """The recovery record's state does not allow what was asked."""

    code = "illegal-move"


class HumansOnly(AgentSyncError):
    """Only a human may decide this, and it was asked inside an agent's session."""

    code = "humans-only"


class LeaseUnsettled(AgentSyncError):
    """Who holds the lease could not be checked, so nothing was done."""

    code = "lease-unsettled"
    exit_status = Exit.PENDING


class BadHook(AgentSyncError):
    """A work hook cannot be used as it is; its ref is kept."""

    code = "bad-hook"


class HookTooNew(BadHook):
    """A work hook was written by a newer agent-sync."""

    code = "hook-too-new"


class IllegalHookMove(AgentSyncError):
    """The state of a work hook does not allow what was asked."""

    code = "illegal-hook-move"


class HookBusy(AgentSyncError):
    """The worker has other work, or another worktree is working on it."""

    code = "hook-busy"
    exit_status = Exit.LOST


class GitFailed(AgentSyncError):
    """Git refused or could not be run."""

    code = "git-failed"


class GitDenied(GitFailed):
    """The remote answered, and git has no credentials that may do this."""

    code = "git-denied"
    exit_status = Exit.SIGN_IN


class GitHubError(AgentSyncError):
    """GitHub answered with an error, or not at all."""

    code = "github"


class NotSignedIn(GitHubError):
    """There is no token, or GitHub does not accept it."""

    code = "not-signed-in"
    exit_status = Exit.SIGN_IN


class MissingScope(GitHubError):
    """The token is valid and may not do this."""

    code = "missing-scope"
    exit_status = Exit.SIGN_IN

    def __init__(self, happened: str, *, scope: str, attempted: str = "", helps: str = "") -> None:
        super().__init__(happened, attempted=attempted, helps=helps)
        self.scope = scope
        # Without a scope that GitHub named, none is said to be missing.
        self.code = self.code if scope else "forbidden"


class NotFound(GitHubError):
    """It is not there, or this token cannot see it: GitHub does not tell which."""

    code = "not-found"
    exit_status = Exit.MISSING


class Refused(GitHubError):
    """GitHub or agent-sync refused it; the message says which and why."""

    code = "refused"


class NotClaimable(Refused):
    """GitHub or agent-sync refused it; the message says which and why."""

    # A class of its own, so that `claim --next` goes on at another issue.


class RateLimited(GitHubError):
    """GitHub wants us to come back later."""

    code = "rate-limited"
    exit_status = Exit.PENDING

    def __init__(self, happened: str, *, until: datetime, attempted: str = "", helps: str = "") -> None:
        super().__init__(happened, attempted=attempted, helps=helps)
        self.until = until


class GitHubDown(GitHubError):
    """No usable answer came; with `maybe_applied` a write may have taken effect anyway."""

    code = "github-down"

    def __init__(self, happened: str, *, maybe_applied: bool = False, attempted: str = "", helps: str = "") -> None:
        super().__init__(happened, attempted=attempted, helps=helps)
        self.maybe_applied = maybe_applied


class OddAnswer(GitHubDown):
    """GitHub answered, and the answer is not what it promises."""

    code = "odd-answer"


class TooHeavy(GitHubDown):
    """GitHub found a question too much to answer at once, also where less was asked for."""

    code = "too-heavy"


class Conflict(GitHubError):
    """Someone else was first."""

    code = "conflict"
    exit_status = Exit.LOST
