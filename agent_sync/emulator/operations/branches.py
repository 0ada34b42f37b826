"""Branches beyond moving their refs: linked to issues, brought up to date, and merges undone."""

import re

from agent_sync.emulator.operations import refs
from agent_sync.emulator.operations.pulls import create_pull
from agent_sync.emulator.operations.refs import HEADS, after_ref_changes
from agent_sync.emulator.operations.rights.access import require_role
from agent_sync.emulator.world.bare import ZERO, Author
from agent_sync.emulator.world.conversations import Issue, LinkedBranch
from agent_sync.emulator.world.identity import timestamp
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.pulls import PullRequest
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.repositories import Repository
from agent_sync.emulator.world.world import World


def link_branch(
    world: World, viewer: Viewer, issue: Issue, repository: Repository, *, name: str | None, sha: str
) -> LinkedBranch | None:
    """Create a branch for an issue; where the branch exists already nothing happens, and nothing is said."""
    require_role(viewer, repository)
    slug = re.sub(r"[^a-z0-9]+", "-", issue.title.lower()).strip("-")
    branch = name or f"{issue.number}-{slug}"
    if repository.git.ref(HEADS + branch):
        return None
    refs.create_ref(world, viewer, repository, HEADS + branch, sha)
    link = LinkedBranch(world.identify("LB"), repository.full_name, branch)
    issue.linked_branches.append(link)
    return world.register(link.id, link)


def update_branch(world: World, viewer: Viewer, pull: PullRequest) -> str:
    """Merge the base into the head of a pull request."""
    require_role(viewer, pull.head_home)
    git = pull.repository.git
    tree = git.merged_tree(pull.head_sha, pull.base_sha)
    if tree is None:
        raise Refused(Kind.UNPROCESSABLE, "merge conflict between base and head")
    text = f"Merge branch '{pull.base}' into {pull.head}\n"
    sha = git.write_commit(tree, [pull.head_sha, pull.base_sha], text, author=_author(world, viewer))
    pull.head_home.git.run("fetch", "--quiet", str(git.path), sha)
    pull.head_home.git.set_ref(HEADS + pull.head, sha, old=pull.head_sha)
    after_ref_changes(world, pull.head_home, by=viewer.user)
    return sha


def revert_pull(
    world: World, viewer: Viewer, pull: PullRequest, *, title: str | None = None, body: str | None = None
) -> PullRequest:
    """Propose a commit that takes back what a merged pull request brought."""
    repository, git = pull.repository, pull.repository.git
    require_role(viewer, repository)
    tip = git.ref(HEADS + pull.base)
    if pull.merge_commit is None or tip is None:
        raise Refused(Kind.UNPROCESSABLE, "Only merged pull requests can be reverted")
    author = _author(world, viewer)
    # A child of the merge with the tree from before it: merging that child is undoing the merge.
    before = git.commit(git.commit(pull.merge_commit).parents[0]).tree
    undone = git.write_commit(before, [pull.merge_commit], "revert", author=author)
    tree = git.merged_tree(tip, undone)
    if tree is None:
        raise Refused(Kind.UNPROCESSABLE, "The changes conflict with what came after them")
    name, said = f"revert-{pull.number}-{pull.head}", title or f'Revert "{pull.title}"'
    sha = git.write_commit(tree, [tip], f"{said}\n", author=author)
    git.set_ref(HEADS + name, sha, old=ZERO)
    after_ref_changes(world, repository, by=viewer.user)
    text = body or f"Reverts {repository.full_name}#{pull.number}"
    return create_pull(world, viewer, repository, title=said, head=name, base=pull.base, body=text)


def _author(world: World, viewer: Viewer) -> Author:
    return Author(viewer.user.name, viewer.user.email, timestamp(world.clock.now()))
