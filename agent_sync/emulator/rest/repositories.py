"""Repositories, their collaborators, branches, commits and comparisons."""

from typing import Any

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations.people import is_assignable
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.shapes.git import branch_shape, changed_files, commit_shape, full_branch
from agent_sync.emulator.rest.shapes.people import collaborator, simple_user
from agent_sync.emulator.rest.shapes.repositories import api_url, full_repository, web_url
from agent_sync.emulator.world.people import User
from agent_sync.emulator.world.refusal import Kind, Refused, not_found

REPO = "/repos/{owner}/{repo}"


def repository(call: Call) -> Answer:
    """Answer one repository."""
    return json_answer(200, full_repository(call.links, call.repository, call.viewer))


def _members(call: Call) -> list[User]:
    return [user for user in call.world.users.values() if is_assignable(call.repository, user)]


def collaborators(call: Call) -> Answer:
    """Answer who may work on a repository."""
    return call.page(_members(call), lambda user: collaborator(call.links, call.repository, user))


def check_collaborator(call: Call) -> Answer:
    """Answer whether someone may work on a repository, by status alone."""
    if call.world.user(call.params["username"]) not in _members(call):
        raise not_found()
    return Answer(204)


def permission(call: Call) -> Answer:
    """Answer what someone may do in a repository."""
    user = call.world.user(call.params["username"])
    role = call.repository.role_of(user)
    words = {"maintain": "write", "triage": "read"}
    return json_answer(
        200,
        {
            "permission": words.get(role.value, role.value),
            "role_name": role.value,
            "user": collaborator(call.links, call.repository, user),
        },
    )


def assignees(call: Call) -> Answer:
    """Answer who can be assigned."""
    return call.page(_members(call), lambda user: simple_user(call.links, user))


def check_assignee(call: Call) -> Answer:
    """Answer whether someone can be assigned, by status alone."""
    if call.params["assignee"].lower() not in {user.login.lower() for user in _members(call)}:
        raise not_found()
    return Answer(204)


def branches(call: Call) -> Answer:
    """Answer the branches."""
    found = sorted(call.repository.git.refs("refs/heads/").items())
    return call.page(
        found,
        lambda entry: branch_shape(call.links, call.repository, entry[0].removeprefix("refs/heads/"), entry[1]),
    )


def branch(call: Call) -> Answer:
    """Answer one branch."""
    name = call.params["branch"]
    sha = call.repository.git.ref(f"refs/heads/{name}")
    if sha is None:
        raise Refused(Kind.NOT_FOUND, "Branch not found")
    return json_answer(200, full_branch(call.links, call.repository, name, sha))


def resolved(call: Call, name: str) -> str:
    """Return the commit a branch, tag or SHA means, or refuse as the commit paths do."""
    sha = call.repository.git.resolve(name)
    if sha is None:
        raise Refused(Kind.UNPROCESSABLE, f"No commit found for SHA: {name}")
    return sha


def commits(call: Call) -> Answer:
    """Answer the history of a branch, newest first."""
    start = resolved(call, call.asked.query.get("sha") or call.repository.default_branch)
    shas = call.repository.git.run("rev-list", start).split()
    return call.page(shas, lambda sha: _commit(call, sha))


def commit(call: Call) -> Answer:
    """Answer one commit with what it changed."""
    sha = resolved(call, call.params["ref"])
    shown = _commit(call, sha)
    parents = [entry["sha"] for entry in shown["parents"]]
    files = changed_files(call.links, call.repository, parents[0], sha) if parents else []
    added, removed = (sum(entry[name] for entry in files) for name in ("additions", "deletions"))
    stats = {"additions": added, "deletions": removed, "total": added + removed}
    return json_answer(200, shown | {"stats": stats, "files": files})


def _commit(call: Call, sha: str) -> dict[str, Any]:
    return commit_shape(call.links, call.repository, call.repository.git.commit(sha), call.world.users)


def compare(call: Call) -> Answer:
    """Answer how two commits relate."""
    git = call.repository.git
    base, head = (git.resolve(call.params[end]) for end in ("base", "head"))
    if base is None or head is None:
        raise not_found()
    ahead, behind = git.commits_between(base, head), git.commits_between(head, base)
    between = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    url = f"{api_url(call.links, call.repository)}/compare/{base}...{head}"
    web = f"{web_url(call.links, call.repository)}/compare/{base}...{head}"
    return json_answer(
        200,
        {
            "url": url,
            "html_url": web,
            "permalink_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "base_commit": _commit(call, base),
            "merge_base_commit": _commit(call, git.run("merge-base", base, head)),
            "status": between,
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [_commit(call, sha) for sha in ahead],
            "files": changed_files(call.links, call.repository, base, head),
        },
    )


ROUTES = (
    ("GET", REPO, "repos/get", repository),
    ("GET", f"{REPO}/collaborators", "repos/list-collaborators", collaborators),
    ("GET", f"{REPO}/collaborators/{{username}}", "repos/check-collaborator", check_collaborator),
    (
        "GET",
        f"{REPO}/collaborators/{{username}}/permission",
        "repos/get-collaborator-permission-level",
        permission,
    ),
    ("GET", f"{REPO}/assignees", "issues/list-assignees", assignees),
    ("GET", f"{REPO}/assignees/{{assignee}}", "issues/check-user-can-be-assigned", check_assignee),
    ("GET", f"{REPO}/branches", "repos/list-branches", branches),
    ("GET", f"{REPO}/branches/{{branch:path}}", "repos/get-branch", branch),
    ("GET", f"{REPO}/commits", "repos/list-commits", commits),
    ("GET", f"{REPO}/compare/{{base:path}}...{{head:path}}", "repos/compare-commits", compare),
)
LAST_ROUTES = (("GET", f"{REPO}/commits/{{ref:path}}", "repos/get-commit", commit),)
