"""The headers every answer of the interface carries."""

import uuid
from email.utils import format_datetime

from agent_sync.emulator.limits import Limits
from agent_sync.emulator.world.identity import Clock
from agent_sync.emulator.world.people import Viewer


def sender_headers(clock: Clock) -> dict[str, str]:
    """Return the headers about this one answer: when it was given, and its number."""
    return {
        "date": format_datetime(clock.now(), usegmt=True),
        "x_github_request_id": uuid.uuid4().hex.upper(),
    }


def viewer_headers(limits: Limits, viewer: Viewer, resource: str) -> dict[str, str]:
    """Return the headers about who asked: their scopes and what is left of their budget."""
    headers = limits.headers(resource) | {
        "x-github-media-type": "github.v3; format=json",
    }
    if viewer.has_scopes:
        headers |= {"x-oauth-scopes": ", ".join(viewer.scopes), "x-accepted-oauth-scopes": "repo"}
    return {name.replace("-", "_"): value for name, value in headers.items()}
