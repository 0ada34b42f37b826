"""Files and directories of a repository, as they are at one commit."""

import base64
from typing import Any

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.repositories import REPO
from agent_sync.emulator.rest.shapes.repositories import api_url, web_url
from agent_sync.emulator.world.bare import TreeEntry
from agent_sync.emulator.world.refusal import not_found


def content(call: Call) -> Answer:
    """Answer a file with its bytes, or the entries of a directory."""
    git, path = call.repository.git, call.params["path"].strip("/")
    commit = git.resolve(call.asked.query.get("ref") or call.repository.default_branch)
    if commit is None:
        raise not_found()
    entry = git.tree_entry(commit, path)
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        entries = git.tree_entries(commit, path)
        return json_answer(200, [_shape(call, commit, inner) for inner in entries])
    encoded = base64.encodebytes(git.blob(entry.sha)).decode()
    return json_answer(200, _shape(call, commit, entry) | {"encoding": "base64", "content": encoded})


def _shape(call: Call, commit: str, entry: TreeEntry) -> dict[str, Any]:
    root, web = api_url(call.links, call.repository), web_url(call.links, call.repository)
    is_file = entry.kind == "blob"
    url = f"{root}/contents/{entry.path}?ref={commit}"
    git_url = f"{root}/git/{'blobs' if is_file else 'trees'}/{entry.sha}"
    html_url = f"{web}/{'blob' if is_file else 'tree'}/{commit}/{entry.path}"
    return {
        "type": "file" if is_file else "dir",
        "size": entry.size,
        "name": entry.path.rpartition("/")[2],
        "path": entry.path,
        "sha": entry.sha,
        "url": url,
        "git_url": git_url,
        "html_url": html_url,
        "download_url": f"{web}/raw/{commit}/{entry.path}" if is_file else None,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


ROUTES = (("GET", f"{REPO}/contents/{{path:path}}", "repos/get-content", content),)
