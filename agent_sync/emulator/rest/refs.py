"""The git database: refs and commits."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.operations import refs
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.shapes.git import git_commit_shape, ref_shape
from agent_sync.emulator.world.refusal import not_found

GIT = "/repos/{owner}/{repo}/git"


def _name(call: Call) -> str:
    return "refs/" + call.params["ref"].removeprefix("refs/")


def get_ref(call: Call) -> Answer:
    """Answer one ref."""
    sha = call.repository.git.ref(_name(call))
    if sha is None:
        raise not_found()
    return json_answer(200, ref_shape(call.links, call.repository, _name(call), sha))


def matching_refs(call: Call) -> Answer:
    """Answer the refs whose names start like the one given, all at once: this list has no pages."""
    found = [entry for entry in call.repository.git.refs().items() if entry[0].startswith(_name(call))]
    return json_answer(200, [ref_shape(call.links, call.repository, *entry) for entry in found])


def create_ref(call: Call) -> Answer:
    """Create a ref that does not exist yet."""
    name, sha = call.text("Reference", "ref"), call.text("Reference", "sha")
    refs.create_ref(call.world, call.viewer, call.repository, name, sha)
    return json_answer(201, ref_shape(call.links, call.repository, name, sha))


def update_ref(call: Call) -> Answer:
    """Move a ref."""
    name, sha = _name(call), call.text("Reference", "sha")
    force = bool(call.body.get("force", False))
    refs.update_ref(call.world, call.viewer, call.repository, name, sha, force=force)
    return json_answer(200, ref_shape(call.links, call.repository, name, sha))


def delete_ref(call: Call) -> Answer:
    """Delete a ref."""
    refs.delete_ref(call.world, call.viewer, call.repository, _name(call))
    return Answer(204)


def git_commit(call: Call) -> Answer:
    """Answer one commit of the git database."""
    sha = call.repository.git.resolve(call.params["commit_sha"])
    if sha is None:
        raise not_found()
    return json_answer(200, git_commit_shape(call.links, call.repository, call.repository.git.commit(sha)))


ROUTES = (
    ("GET", f"{GIT}/ref/{{ref:path}}", "git/get-ref", get_ref),
    ("GET", f"{GIT}/matching-refs/{{ref:path}}", "git/list-matching-refs", matching_refs),
    ("POST", f"{GIT}/refs", "git/create-ref", create_ref),
    ("PATCH", f"{GIT}/refs/{{ref:path}}", "git/update-ref", update_ref),
    ("DELETE", f"{GIT}/refs/{{ref:path}}", "git/delete-ref", delete_ref),
    ("GET", f"{GIT}/commits/{{commit_sha}}", "git/get-commit", git_commit),
)
