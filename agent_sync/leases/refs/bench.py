"""What every order about a lease works with: a store of refs, and the intents written before it is asked."""

import time
from dataclasses import dataclass

from agent_sync.leases.model import Lease, Tip
from agent_sync.leases.refs.intents import BEGINNINGS, Intent, Intents, Verb
from agent_sync.leases.refs.objects import write_commit
from agent_sync.leases.refs.remote import CLAIMS, Pushed, RefUpdate, Verdict
from agent_sync.leases.refs.stores import Branch, Store
from agent_sync.leases.results import Doubt, Unknown

ATTEMPTS = 4
PAUSE_S = 0.1


@dataclass(frozen=True)
class Draft:
    """A claim that is written and meant, but not yet swapped in."""

    intent: Intent
    tip: Tip


@dataclass(frozen=True)
class Bench:
    """One store, seen from one worktree."""

    store: Store
    intents: Intents

    def begun(self, issue: int) -> Intent | None:
        """Return the last attempt of this worktree to get an issue, if its holder has not confirmed it."""
        pending = self.intents.pending(issue)
        return pending if pending and pending.verb in BEGINNINGS else None

    def draft(self, verb: Verb, lease: Lease, *, old: str, parent: str) -> Draft:
        """Write a claim commit and the intent to swap it in."""
        sha = write_commit(self.store.git, lease, parent)
        intent = Intent(lease.issue, f"{CLAIMS}{lease.issue}", verb, lease.nonce, lease.epoch, old, sha)
        self.intents.record(intent)
        return Draft(intent, Tip(sha, lease, self.store.where))

    def swap(self, draft: Draft, branch: Branch = None) -> Pushed:
        """Swap a draft in."""
        intent = draft.intent
        return self.store.swap(RefUpdate(intent.ref, intent.old, intent.new), branch)

    def doubt(self, draft: Draft, pushed: Pushed) -> Unknown:
        """Say why a draft is not in, though the ref can be read and stands where it stood."""
        if pushed.verdict is Verdict.REJECTED and self.store.refuses(draft.intent.new):
            self.intents.settle(draft.intent.issue)
            return Unknown(Doubt.REFUSED, pushed.text)
        # The intent stays: a push that is still on its way is ours when it arrives.
        return Unknown(Doubt.UNWRITTEN, pushed.text, is_sent=pushed.was_sent)


def pause(attempt: int) -> None:
    """Give others, and a server in trouble, a moment before the next attempt."""
    time.sleep(PAUSE_S * attempt)
