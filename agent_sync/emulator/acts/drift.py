"""Acts that change things behind the back of whoever works on them."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations import branches, forks, moving, people, refs, reviews
from agent_sync.emulator.world.bare import ZERO, Author
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.pulls import ReviewThread

Outcome = dict[str, int | str]


def assign(act: Act) -> Outcome:
    """Make the assignees of an issue or pull request exactly these people and bots."""
    users = [act.world.collaborator(login).login for login in act.texts("users")]
    people.replace_assignees(act.world, act.by, act.conversation, users)
    return {"number": act.conversation.number}


def label(act: Act) -> Outcome:
    """Put labels on an issue or pull request."""
    people.set_labels(act.world, act.by, act.conversation, act.texts("labels"))
    return {"number": act.conversation.number}


def request_review(act: Act) -> Outcome:
    """Ask people and bots for a review, again if they have given one already."""
    users = [act.world.collaborator(login) for login in act.texts("users")]
    reviews.request_reviewers(act.world, act.by, act.pull, users)
    return {"number": act.pull.number}


def _thread(act: Act) -> ReviewThread:
    wanted, threads = act.fields.get("thread", len(act.pull.threads)), act.pull.threads
    for place, thread in enumerate(threads, 1):
        if wanted in {place, thread.id}:
            return thread
    raise ImpossibleActError(f"there is no thread {wanted!r}; the pull request has {len(threads)}")


def reply_thread(act: Act) -> Outcome:
    """Answer in a review thread, named by its place or id; the newest unless it says otherwise."""
    return {"id": reviews.reply_to_thread(act.world, act.by, _thread(act), act.text("body")).identity.number}


def resolve_thread(act: Act) -> Outcome:
    """Resolve a review thread, or with `on` false open it again."""
    thread = _thread(act)
    reviews.resolve_thread(act.world, act.by, thread, resolved=act.flag("on", default=True))
    return {"id": thread.id}


def force_push(act: Act) -> Outcome:
    """Replace a branch by one new commit on the default branch, as somebody else's force-push does."""
    repository, user, branch = act.repository, act.by.user, act.text("branch")
    base = repository.git.ref(f"refs/heads/{repository.default_branch}")
    tree = repository.git.tree_with_file(base, act.text("path", "FORCED.md"), act.text("content", "forced\n"))
    author = Author(user.name, user.email, timestamp(act.world.clock.now()))
    sha = repository.git.write_commit(tree, [base or ZERO], act.text("message", "Rewrite") + "\n", author=author)
    repository.git.set_ref(f"refs/heads/{branch}", sha, old=None)
    refs.after_ref_changes(act.world, repository, by=user)
    return {"id": sha}


def update_branch(act: Act) -> Outcome:
    """Merge the base into a pull request's branch, as the button on its page does."""
    return {"id": branches.update_branch(act.world, act.by, act.pull)}


def revert_pull(act: Act) -> Outcome:
    """Open a pull request that takes a merged one back."""
    return {"number": branches.revert_pull(act.world, act.by, act.pull).number}


def transfer_issue(act: Act) -> Outcome:
    """Move an issue to another repository; the number is the new one."""
    owner, _, name = act.text("to").partition("/")
    return {"number": moving.transfer_issue(act.world, act.by, act.issue, act.world.repository(owner, name)).number}


def rename_repository(act: Act) -> Outcome:
    """Give the repository another name, to which the old one leads."""
    moving.move_repository(act.world, act.repository, name=act.text("name"))
    return {"id": act.repository.full_name}


def transfer_repository(act: Act) -> Outcome:
    """Give the repository another owner, to whom the old name leads."""
    moving.move_repository(act.world, act.repository, owner=act.world.add_user(act.text("owner")))
    return {"id": act.repository.full_name}


def rename_owner(act: Act) -> Outcome:
    """Give the owner of the repository another login."""
    moving.rename_owner(act.world, act.repository.owner, act.text("login"))
    return {"id": act.repository.full_name}


def fork(act: Act) -> Outcome:
    """Fork the repository into the account of whoever acts."""
    made = forks.fork_repository(act.world, Viewer(act.by.user), act.repository, name=act.optional_text("name"))
    return {"id": made.full_name}
