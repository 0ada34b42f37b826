"""Redirects: repositories under their old names, and issues that went elsewhere."""

import re

from agent_sync.emulator.exchange import DOCUMENTATION, Answer, Asked, json_answer
from agent_sync.emulator.world.world import World

NAMED = re.compile(r"/repos/(?P<owner>[^/]+)/(?P<name>[^/]+)(?P<rest>/.*)?")
NUMBERED = re.compile(r"/repositories/(?P<number>\d+)(?P<rest>/.*)?")
ISSUE = re.compile(r"/issues/(?P<number>\d+)(?P<rest>/.*)?")


def redirect(world: World, asked: Asked) -> Answer | None:
    """Return the way to a repository that has another name now, or to an issue that is elsewhere."""
    match = NAMED.fullmatch(asked.plain_path)
    if match is None:
        return None
    old, rest = f"{match['owner']}/{match['name']}".lower(), match["rest"] or ""
    moved = world.moved.get(old)
    if moved is not None:
        return _moved(asked, f"/repositories/{moved.identity.number}{rest}")
    here, wanted = world.repositories.get(old), ISSUE.fullmatch(rest)
    issue = here.transferred.get(int(wanted["number"])) if here and wanted else None
    if issue is None or wanted is None:
        return None
    return _moved(
        asked, f"/repositories/{issue.repository.identity.number}/issues/{issue.number}{wanted['rest'] or ''}"
    )


def _moved(asked: Asked, path: str) -> Answer:
    url = f"{asked.links.api}{path}" + (f"?{asked.raw_query}" if asked.raw_query else "")
    status, message = (301, "Moved Permanently") if asked.method == "GET" else (307, "Temporary Redirect")
    return json_answer(status, {"message": message, "url": url, "documentation_url": DOCUMENTATION}, location=url)


def named_path(world: World, path: str) -> str:
    """Return a path that names a repository by number as one that names it by owner and name."""
    match = NUMBERED.fullmatch(path)
    if match is None:
        return path
    for repository in world.repositories.values():
        if repository.identity.number == int(match["number"]):
            return f"/repos/{repository.full_name}{match['rest'] or ''}"
    return path
