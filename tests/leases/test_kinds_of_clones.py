"""Clones and remotes of every kind: each gives its own clear result."""

from datetime import timedelta
from pathlib import Path

import pytest
from support.leases import NOW, git, later

from agent_sync.errors import BadConfig
from agent_sync.leases.claim_refs import refused_since, transport_at, transport_for
from agent_sync.leases.identity import worktree_id
from agent_sync.leases.keeper import LeaseKeeper
from agent_sync.leases.model import proof_of
from agent_sync.leases.refs.values import PushResult, Where
from agent_sync.leases.results import Doubt, NotHeld, Unknown, Won
from agent_sync.settings import Settings
from agent_sync.settings.tables import LeaseSettings

NO_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


def shown(root: Path, *arguments: str) -> str:
    """Return what git says of a clone."""
    return git(root, *arguments)


def whole_life(worker, other, issue=7):
    """Acquire, renew and release here, acquire there, and look at both from here."""
    mine = worker.holds(issue)
    assert isinstance(worker.keeper.renew(mine, later()), Won)
    assert isinstance(worker.keeper.release(mine, later(120)), Won)
    theirs = other.holds(issue, at=180)
    assert theirs.epoch == 2
    lost = worker.keeper.acquire(issue, worker.request(200))
    assert isinstance(lost, NotHeld)
    assert proof_of(lost.tip.lease) == theirs


def test_clones_that_lack_something(bare):
    """A clone with less than everything keeps leases, stays what it was, and stays sound.

    All of them renew on a remote that denies rewriting branches.
    """
    git(bare.shared, "config", "receive.denyNonFastForwards", "true")
    git(bare.shared, "config", "receive.denyDeletes", "true")
    bob = bare.worker("bob")
    for issue, option in enumerate(("--depth=1", "--filter=blob:none", "--filter=tree:0", "--no-checkout"), start=1):
        ann = bare.worker(f"ann{issue}", option)
        before = shown(ann.root, "rev-parse", "--is-shallow-repository"), shown(ann.root, "config", "--list", "--local")
        whole_life(ann, bob, issue)
        after = shown(ann.root, "rev-parse", "--is-shallow-repository"), shown(ann.root, "config", "--list", "--local")
        assert before == after, option
        shown(ann.root, "fsck", "--strict", "--no-dangling")


def test_full_clone_stays_whole(bare, monkeypatch):
    """Reading claims does not make a clone shallow and leaves no other trace.

    Nothing depends on what is checked out, and claims are written without any identity in git's configuration, under
    a fixed one.
    """
    for name in NO_IDENTITY:
        monkeypatch.delenv(name)
    ann, bob = bare.worker("ann"), bare.worker("bob")
    git(ann.root, "checkout", "-q", "--detach")
    whole_life(ann, bob)
    assert shown(ann.root, "rev-parse", "--is-shallow-repository") == "false"
    assert shown(ann.root, "status", "--porcelain") == ""
    assert not (ann.root / ".git" / "FETCH_HEAD").exists()
    shown(ann.root, "fsck", "--strict", "--no-dangling")
    assert git(bare.shared, "log", "-1", "--format=%an <%ae> %cn", bare.tip()) == (
        "agent-sync <agent-sync@localhost> agent-sync"
    )


def test_linked_worktrees_are_different_holders(bare):
    """Two worktrees of one clone compete like two clones.

    An unconfirmed lease of one is not won by its sibling, which shares the directory of intents.
    """
    ann = bare.worker("ann")
    git(ann.root, "worktree", "add", "-q", "--detach", str(bare.directory / "bob"))
    bob = type(ann)(bare.directory / "bob")
    assert worktree_id(ann.place) != worktree_id(bob.place)
    assert worktree_id(ann.place) == worktree_id(ann.place)
    whole_life(ann, bob)
    won = ann.keeper.acquire(8, ann.request())
    assert isinstance(bob.keeper.acquire(8, bob.request()), NotHeld)
    assert ann.keeper.acquire(8, ann.request(1)) == won


def test_pushes_elsewhere_are_read_there(bare):
    """With a push address of its own, claims are read where they are written."""
    ann, bob = bare.worker("ann"), bare.worker("bob")
    fork = bare.directory / "fork.git"
    git(bare.directory, "clone", "-q", "--bare", str(bare.shared), str(fork))
    for worker in (ann, bob):
        git(worker.root, "remote", "set-url", "--push", "origin", f"file://{fork}")
    whole_life(ann, bob)
    assert bare.tip() == ""


def test_read_only_remote(github):
    """A remote that may be read and not written refuses claims, with git's reason."""
    ann = github.worker("ann")
    github.control("POST", "act", {"act": "read_only", "on": True})
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert (outcome.doubt, ann.keeper.read(7)) == (Doubt.REFUSED, None)
    assert "403" in outcome.reason


def refuse(yard):
    """Let the remote refuse claim refs, each in its own way."""
    if yard.kind == "http":
        yard.control("POST", "act", {"act": "refuse_refs", "pattern": "refs/agentsync/*"})
        return
    hook = yard.shared / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n! grep -q refs/agentsync/\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("kind", ["bare", "github"])
def test_remote_that_refuses_claim_refs(kind, request):
    """A remote without claim refs is told apart from one in trouble, remembered for a day, and the clone does not step in unasked."""
    yard = request.getfixturevalue(kind)
    ann = yard.worker("ann")
    refuse(yard)
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert (outcome.refused, ann.intents()) == (True, [])
    chosen = transport_for(ann.git, ann.place, Settings(), NOW)
    assert chosen.where is Where.REMOTE
    assert refused_since(ann.place, chosen.url, NOW) == NOW
    assert refused_since(ann.place, chosen.url, NOW + timedelta(days=2)) is None
    local = transport_for(ann.git, ann.place, Settings(lease=LeaseSettings(where="clone")), NOW)
    won = LeaseKeeper(local, ann.place).acquire(7, ann.request())
    assert isinstance(won, Won)
    assert won.tip.where is Where.CLONE


def test_one_refused_claim_is_not_a_refusal_of_all(bare):
    """A hook that refuses one ref only leaves it unknown, and the remote is asked again."""
    ann = bare.worker("ann")
    hook = bare.shared / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\n[ "$1" != refs/agentsync/claims/7 ]\n')
    hook.chmod(0o755)
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert outcome.doubt is Doubt.UNWRITTEN
    assert refused_since(ann.place, transport_for(ann.git, ann.place, Settings(), NOW).url, NOW) is None
    assert git(bare.shared, "for-each-ref", "refs/agentsync") == ""


def test_probe_reports_each_step(bare):
    """A probe makes, moves and deletes a scratch ref, leaves nothing, and renews what is remembered."""
    ann = bare.worker("ann")
    refuse(bare)
    refused = ann.keeper.probe(NOW)
    assert [(step.name, step.result) for step in refused.steps] == [("create", PushResult.REJECTED)]
    assert refused.is_refused
    assert refused_since(ann.place, transport_for(ann.git, ann.place, Settings(), NOW).url, NOW) == NOW
    (bare.shared / "hooks" / "pre-receive").unlink()
    accepted = ann.keeper.probe(NOW)
    assert [step.name for step in accepted.steps] == ["create", "move", "refuse a stale change", "delete"]
    assert accepted.is_accepted
    assert transport_for(ann.git, ann.place, Settings(), NOW).where is Where.REMOTE
    assert git(bare.shared, "for-each-ref", "refs/agentsync") == ""


def test_probe_of_a_remote_that_is_away(bare):
    """A remote that cannot be reached has neither taken nor refused anything."""
    ann = bare.worker("ann")
    git(ann.root, "remote", "set-url", "origin", f"file://{bare.directory}/gone.git")
    found = ann.keeper.probe(NOW)
    assert (found.is_accepted, found.is_refused) == (False, False)
    assert "gone.git" in found.steps[0].text


# The last one takes the remote away.
CHOICES = {
    "a remote": (Settings(), None, (Where.REMOTE, "")),
    "by settings": (Settings(lease=LeaseSettings(where="clone")), None, (Where.CLONE, "the settings say so")),
    "made here": (Settings(), Where.CLONE, (Where.CLONE, "the claim was made so")),
    "made there": (Settings(), Where.REMOTE, (Where.REMOTE, "")),
    "no remote": (Settings(), None, (Where.CLONE, "there is no remote origin")),
}


def test_choice_of_transport(bare):
    """New leases go to the remote if there is one; a lease that exists is kept where it was made."""
    ann = bare.worker("ann")
    for name, (settings, where, expected) in CHOICES.items():
        if name == "no remote":
            git(ann.root, "remote", "remove", "origin")
        made_at = transport_at(where, ann.git, "origin") if where else None
        chosen = made_at or transport_for(ann.git, ann.place, settings, NOW)
        assert (chosen.where, chosen.reason) == expected, name


def test_lease_on_a_remote_that_was_removed(bare):
    """A lease made on a remote cannot be kept without it, and is not suddenly this clone's."""
    ann = bare.worker("ann")
    ann.holds()
    git(ann.root, "remote", "remove", "origin")
    with pytest.raises(BadConfig, match=r"This clone has no remote 'origin' \(it has none\)") as error:
        transport_at(Where.REMOTE, ann.git, "origin")
    assert "git remote add origin URL" in error.value.helps


def test_new_lease_does_not_guess_another_remote(bare):
    """A clone that has remotes, and not the one it is told to use, neither takes another nor keeps the lease itself."""
    ann = bare.worker("ann")
    git(ann.root, "remote", "rename", "origin", "upstream")
    with pytest.raises(BadConfig, match=r"no remote 'origin' \(it has 'upstream'\)"):
        transport_for(ann.git, ann.place, Settings(), NOW)


def test_passwords_stay_out_of_reasons(bare):
    """An address with a password in it shows up neither in a reason nor in what is remembered."""
    ann = bare.worker("ann")
    git(
        ann.root,
        "remote",
        "set-url",
        "origin",
        "http://octo:ghp_0123456789abcdefghijklmnopqrstuvwxyz@127.0.0.1:9/x.git",
    )
    outcome = ann.keeper.acquire(7, ann.request())
    assert isinstance(outcome, Unknown)
    assert "ghp_" not in outcome.reason
    state = Path(ann.place.shared_dir)
    texts = [path.read_text() for path in state.rglob("*") if path.is_file()]
    assert not any("ghp_" in text for text in texts)
