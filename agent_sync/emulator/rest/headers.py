"""The headers every answer of the interface carries."""

import uuid
from email.utils import format_datetime

from agent_sync.emulator.limits import Limits
from agent_sync.emulator.world.people import Viewer
from agent_sync.emulator.world.world import World


def common_headers(world: World, limits: Limits, viewer: Viewer, resource: str) -> dict[str, str]:
    """Return the headers about time, scopes and budget."""
    headers = limits.headers(resource) | {
        "date": format_datetime(world.clock.now(), usegmt=True),
        "x-github-media-type": "github.v3; format=json",
        "x-github-request-id": uuid.uuid4().hex.upper(),
        "x-oauth-scopes": ", ".join(viewer.scopes),
        "x-accepted-oauth-scopes": "repo",
    }
    return {name.replace("-", "_"): value for name, value in headers.items()}
