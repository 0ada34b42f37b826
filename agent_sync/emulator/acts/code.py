"""Acts on pull requests, checks and branches."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations import checks, pulls, refs, reviews
from agent_sync.emulator.operations.merging import merge_pull as land
from agent_sync.emulator.world.bare import ZERO, Author
from agent_sync.emulator.world.checks import CheckRun
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.pulls import MergeMethod, ReviewState

REVIEW_WORDS = {
    "APPROVE": ReviewState.APPROVED,
    "APPROVED": ReviewState.APPROVED,
    "REQUEST_CHANGES": ReviewState.CHANGES_REQUESTED,
    "CHANGES_REQUESTED": ReviewState.CHANGES_REQUESTED,
    "COMMENT": ReviewState.COMMENTED,
    "COMMENTED": ReviewState.COMMENTED,
}

Outcome = dict[str, int | str]


def add_check(act: Act) -> Outcome:
    """Report a check on a commit."""
    conclusion = act.optional_text("conclusion")
    new = checks.NewCheck(
        name=act.text("name"),
        status=act.text("status", "completed" if conclusion else "queued"),
        conclusion=conclusion,
        required=act.flag("required", default=False),
        log=act.optional_text("log") or "",
    )
    return {"id": checks.add_check(act.world, act.by, act.repository, act.sha, new).identity.number}


def complete_check(act: Act) -> Outcome:
    """Finish the newest check of a name on a pull request's head."""
    check = _newest_check(act)
    conclusion = act.text("conclusion", "success")
    checks.update_check(act.world, act.by, check, status="completed", conclusion=conclusion)
    check.log = act.optional_text("log") or check.log
    return {"id": check.identity.number}


def _newest_check(act: Act) -> CheckRun:
    name, sha = act.text("name"), act.sha
    found = [check for check in checks.latest_checks(act.repository, sha) if check.name == name]
    if not found:
        raise ImpossibleActError(f"there is no check {name!r} on {sha}")
    return found[0]


def add_status(act: Act) -> Outcome:
    """Post a commit status."""
    status = checks.add_status(
        act.world, act.by, act.repository, act.sha, context=act.text("context"), state=act.text("state"),
        description=act.optional_text("description"), target_url=act.optional_text("target_url"),
    )  # fmt: skip
    return {"id": status.identity.number}


def merge_pull(act: Act) -> Outcome:
    """Merge a pull request as someone who may overrule required checks."""
    method = act.text("method", "merge")
    if method not in set(MergeMethod):
        raise ImpossibleActError(f"unknown method {method!r}; known: {', '.join(MergeMethod)}")
    land(act.world, act.by, act.pull, method=MergeMethod(method), bypass_checks=True)
    return {"number": act.pull.number}


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
