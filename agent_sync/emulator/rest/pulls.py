"""Pull requests: list, read, open, edit, merge."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import pulls
from agent_sync.emulator.operations.merges.merging import merge_pull
from agent_sync.emulator.rest.call import Call, newest_first
from agent_sync.emulator.rest.shapes.git import changed_files, commit_shape
from agent_sync.emulator.rest.shapes.pulls import full_pull, simple_pull
from agent_sync.emulator.world.pulls import MergeMethod, PullRequest
from agent_sync.emulator.world.refusal import invalid, not_found

PULLS = "/repos/{owner}/{repo}/pulls"
PULL = f"{PULLS}/{{pull_number}}"


def pull_of(call: Call) -> PullRequest:
    """Return the pull request the path names."""
    return pulls.find_pull(call.repository, call.number("pull_number"))


def list_pulls(call: Call) -> Answer:
    """Answer a page of pull requests, newest first."""
    query = call.asked.query
    state, base, head = query.get("state", "open"), query.get("base"), query.get("head")
    found = [
        pull
        for pull in call.repository.pulls
        if state in {"all", pull.state}
        and base in {None, pull.base}
        and head in {None, f"{pull.head_home.owner.login}:{pull.head}"}
    ]
    by_time = "updated_at" if query.get("sort") == "updated" else "created_at"
    ordered = newest_first(found, lambda pull: (getattr(pull, by_time), pull.number), call)
    return call.page(ordered, lambda pull: simple_pull(call.links, pull))


def get_pull(call: Call) -> Answer:
    """Answer one pull request."""
    return json_answer(200, full_pull(call.links, pull_of(call)))


def create_pull(call: Call) -> Answer:
    """Open a pull request."""
    created = pulls.create_pull(
        call.world, call.viewer, call.repository, title=call.text("PullRequest", "title"),
        head=call.text("PullRequest", "head"), base=call.text("PullRequest", "base"),
        body=call.optional_text("PullRequest", "body"), draft=bool(call.body.get("draft", False)),
        maintainer_can_modify=bool(call.body.get("maintainer_can_modify", True)),
    )  # fmt: skip
    return json_answer(201, full_pull(call.links, created))


def update_pull(call: Call) -> Answer:
    """Change a pull request."""
    pull, world, viewer = pull_of(call), call.world, call.viewer
    title, body = call.optional_text("PullRequest", "title"), call.optional_text("PullRequest", "body")
    pulls.edit_pull(world, viewer, pull, title=title, body=body)
    if base := call.optional_text("PullRequest", "base"):
        pulls.retarget(world, viewer, pull, base)
    match call.body.get("state"):
        case None:
            pass
        case "closed":
            pulls.close_pull(world, viewer, pull)
        case "open":
            pulls.reopen_pull(world, viewer, pull)
        case _:
            raise invalid("PullRequest", "state")
    return json_answer(200, full_pull(call.links, pull))


def merge(call: Call) -> Answer:
    """Merge a pull request."""
    method = call.body.get("merge_method", "merge")
    if method not in set(MergeMethod):
        raise invalid("PullRequest", "merge_method")
    sha = merge_pull(
        call.world, call.viewer, pull_of(call), method=MergeMethod(method),
        expected_head=call.optional_text("PullRequest", "sha"),
        title=call.optional_text("PullRequest", "commit_title"),
        message=call.optional_text("PullRequest", "commit_message"),
    )  # fmt: skip
    return json_answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def is_merged(call: Call) -> Answer:
    """Answer whether a pull request is merged, by status alone."""
    if not pull_of(call).merged:
        raise not_found()
    return Answer(204)


def commits(call: Call) -> Answer:
    """Answer the commits of a pull request, oldest first."""
    pull, git = pull_of(call), call.repository.git
    shas = git.commits_between(pull.base_sha, pull.head_sha)
    users = call.world.users
    return call.page(shas, lambda sha: commit_shape(call.links, call.repository, git.commit(sha), users))


def files(call: Call) -> Answer:
    """Answer what a pull request changes."""
    pull = pull_of(call)
    found = changed_files(call.links, call.repository, pull.base_sha, pull.head_sha)
    return call.page(found, lambda entry: entry)


ROUTES = (
    ("GET", PULLS, "pulls/list", list_pulls),
    ("POST", PULLS, "pulls/create", create_pull),
    ("GET", PULL, "pulls/get", get_pull),
    ("PATCH", PULL, "pulls/update", update_pull),
    ("GET", f"{PULL}/merge", "pulls/check-if-merged", is_merged),
    ("PUT", f"{PULL}/merge", "pulls/merge", merge),
    ("GET", f"{PULL}/commits", "pulls/list-commits", commits),
    ("GET", f"{PULL}/files", "pulls/list-files", files),
)
