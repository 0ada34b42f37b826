"""What a push says before anything is read."""

import pytest
from support.leases import CLAIMS, git

from agent_sync.leases.refs.git_pushes import push
from agent_sync.leases.refs.git_refs import write_commit
from agent_sync.leases.refs.values import NewCommit, PushResult, RefUpdate
from agent_sync.system.git_refusals import is_object_missing

REF = f"{CLAIMS}7"


@pytest.mark.parametrize("kind", ["bare", "github"])
def test_verdicts(kind, request):
    """A ref that moved has landed; one that was not what it should be is rejected; up to date is no win."""
    shared = request.getfixturevalue(kind)
    git_of = shared.worker("ann").git
    first, second = (write_commit(git_of, NewCommit(word)) for word in ("first", "second"))
    rows = [
        ("made", RefUpdate(REF, "", first), PushResult.LANDED),
        ("made again with the same commit", RefUpdate(REF, "", first), PushResult.SILENT),
        ("made again with another", RefUpdate(REF, "", second), PushResult.REJECTED),
        ("moved from what it is not", RefUpdate(REF, second, first), PushResult.SILENT),
        ("moved sideways from what it is", RefUpdate(REF, first, second), PushResult.LANDED),
        ("deleted from what it is not", RefUpdate(REF, first, ""), PushResult.REJECTED),
        ("deleted", RefUpdate(REF, second, ""), PushResult.LANDED),
    ]
    found = {name: push(git_of, shared.address, [update]).result for name, update, _ in rows}
    assert found == {name: verdict for name, _, verdict in rows}


def test_several_refs_move_together_or_not_at_all(bare):
    """One ref that is not what it should be keeps the others back."""
    git_of = bare.worker("ann").git
    first, second = (write_commit(git_of, NewCommit(word)) for word in ("first", "second"))
    push(git_of, bare.address, [RefUpdate(REF, "", first)])
    both = [RefUpdate(f"{CLAIMS}8", "", second), RefUpdate(REF, "", second)]
    assert push(git_of, bare.address, both).result is PushResult.REJECTED
    assert git(bare.shared, "for-each-ref", "--format=%(refname)", CLAIMS) == REF


def test_nobody_there(bare):
    """Without an answer there is no verdict."""
    git_of = bare.worker("ann").git
    commit = write_commit(git_of, NewCommit("first"))
    assert push(git_of, f"{bare.address}-gone", [RefUpdate(REF, "", commit)]).result is PushResult.SILENT


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"fatal: bad object {'a1' * 20}", True),
        (f"fatal: bad tree object {'a1' * 20}", True),
        (f"fatal: missing object {'a1' * 20} for refs/agentsync/hooks/main/w1", True),
        (f"fatal: prepare: cannot update ref 'x': trying to write ref 'x' with nonexistent object {'a1' * 32}", True),
        (f"fatal: Not a valid object name: '{'a1' * 20}'", True),
        (f"fatal: unable to read {'a1' * 20}", True),
        ("fatal: Not a valid object name main", False),
        ("fatal: unable to read askpass response", False),
        ("error: src refspec main does not match any", False),
    ],
)
def test_missing_object_is_recognised(said, expected):
    """Only an object that is named counts: a name that git does not know is something else."""
    assert is_object_missing(said) is expected
