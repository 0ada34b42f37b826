"""Acts on pull requests and branches."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations import pulls, refs, reviews
from agent_sync.emulator.world.bare import ZERO, Author
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.pulls import ReviewState

REVIEW_WORDS = {
    "APPROVE": ReviewState.APPROVED,
    "APPROVED": ReviewState.APPROVED,
    "REQUEST_CHANGES": ReviewState.CHANGES_REQUESTED,
    "CHANGES_REQUESTED": ReviewState.CHANGES_REQUESTED,
    "COMMENT": ReviewState.COMMENTED,
    "COMMENTED": ReviewState.COMMENTED,
}

Outcome = dict[str, int | str]


def close_pull(act: Act) -> Outcome:
    """Close a pull request without merging."""
    pulls.close_pull(act.world, act.by, act.pull)
    return {"number": act.pull.number}


def reopen_pull(act: Act) -> Outcome:
    """Open a closed pull request again."""
    pulls.reopen_pull(act.world, act.by, act.pull)
    return {"number": act.pull.number}


def draft_pull(act: Act) -> Outcome:
    """Turn a pull request into a draft."""
    pulls.set_draft(act.world, act.by, act.pull, draft=True)
    return {"number": act.pull.number}


def ready_pull(act: Act) -> Outcome:
    """Mark a draft as ready for review."""
    pulls.set_draft(act.world, act.by, act.pull, draft=False)
    return {"number": act.pull.number}


def retarget_pull(act: Act) -> Outcome:
    """Let a pull request go into another branch."""
    pulls.retarget(act.world, act.by, act.pull, act.text("base"))
    return {"number": act.pull.number}


def push_commit(act: Act) -> Outcome:
    """Commit one file to a branch, which is created from the default branch if need be."""
    repository, user, branch = act.repository, act.by.user, act.text("branch")
    before = repository.git.ref(f"refs/heads/{branch}")
    parent = before or repository.git.ref(f"refs/heads/{repository.default_branch}")
    path = act.text("path", "CHANGES.md")
    tree = repository.git.tree_with_file(parent, path, act.text("content", f"changed by {user.login}\n"))
    author = Author(user.name, user.email, timestamp(act.world.clock.now()))
    message = act.text("message", f"Change {path}")
    sha = repository.git.write_commit(tree, [parent] if parent else [], message + "\n", author=author)
    repository.git.set_ref(f"refs/heads/{branch}", sha, old=before or ZERO)
    refs.after_ref_changes(act.world, repository, by=user)
    return {"id": sha}


def delete_branch(act: Act) -> Outcome:
    """Delete a branch."""
    branch = act.text("branch")
    refs.delete_ref(act.world, act.by, act.repository, f"refs/heads/{branch}")
    return {"id": branch}


def review(act: Act) -> Outcome:
    """Review a pull request; here even one's own, so that a test needs no second person."""
    word = act.text("state").upper()
    if word not in REVIEW_WORDS:
        raise ImpossibleActError(f"unknown review state {word!r}; known: {', '.join(REVIEW_WORDS)}")
    threads = act.fields.get("threads") or []
    done = reviews.submit_review(
        act.world, act.by, act.pull, state=REVIEW_WORDS[word], body=act.text("body", ""),
        threads=[_thread(entry) for entry in threads], may_judge_own=True,
    )  # fmt: skip
    return {"id": done.identity.number}


def _thread(entry: object) -> reviews.NewThread:
    match entry:
        case {"path": str(path), "line": int(line), "body": str(body)}:
            return reviews.NewThread(path, line, body)
        case _:
            raise ImpossibleActError("a thread needs path, line and body")
