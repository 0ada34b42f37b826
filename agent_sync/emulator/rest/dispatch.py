"""From method and path to the handler, with every answer's headers and every refusal's body."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from agent_sync.emulator.credentials import token_of
from agent_sync.emulator.exchange import Answer, Asked, conditional, error_answer
from agent_sync.emulator.limits import Limits
from agent_sync.emulator.operations.merges.auto_merging import carry_out
from agent_sync.emulator.operations.rights.permissions import operation_areas, require_permission
from agent_sync.emulator.rest import (
    actions,
    checks,
    comments,
    contents,
    git_objects,
    issues,
    meta,
    pulls,
    refs,
    relations,
    repositories,
    reviews,
)
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.headers import viewer_headers
from agent_sync.emulator.rest.moves import named_path, redirect
from agent_sync.emulator.rest.refusals import refused
from agent_sync.emulator.world.refusal import Kind, Refused, not_found
from agent_sync.emulator.world.world import World


@dataclass(frozen=True)
class Route:
    """One operation of GitHub's interface and the function that answers it."""

    method: str
    pattern: re.Pattern[str]
    operation: str
    handler: Callable[[Call], Answer]


def _compiled(template: str) -> re.Pattern[str]:
    """Turn a path template into a pattern; `{name:path}` takes slashes too, as branch names do."""
    pieces = re.split(r"\{(\w+)(:path)?\}", template)
    literals, names, kinds = pieces[0::3], pieces[1::3], pieces[2::3]
    groups = [f"(?P<{name}>{'.+' if kind else '[^/]+'})" for name, kind in zip(names, kinds, strict=True)]
    return re.compile("".join(re.escape(text) + group for text, group in zip(literals, [*groups, ""], strict=True)))


ROUTES = [
    Route(method, _compiled(template), operation, handler)
    for module in (
        meta,
        repositories,
        refs,
        contents,
        git_objects,
        comments,
        issues,
        relations,
        pulls,
        reviews,
        checks,
        actions,
    )
    for method, template, operation, handler in module.ROUTES
]


def rest_operation(method: str, path: str) -> str | None:
    """Return GitHub's id of the operation a request asks for."""
    found = _route(method, path)
    return found[0].operation if found else None


def _route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    for route in ROUTES:
        match = route.pattern.fullmatch(path.rstrip("/") or "/") if route.method == method else None
        if match:
            return route, match.groupdict()
    return None


def answer_rest(world: World, limits: Limits, asked: Asked) -> Answer:
    """Answer one REST request."""
    try:
        with world.lock:
            viewer = world.viewer(token_of(asked.headers))
    except Refused as refusal:
        return refused(refusal)
    with world.lock:
        elsewhere, path = redirect(world, asked), named_path(world, asked.plain_path)
    if elsewhere is not None:
        return elsewhere
    found = _route(asked.method, path)
    if found is None:
        return error_answer(404, "Not Found")
    answer = conditional(asked, _handled(Call(world, limits, viewer, asked, found[1]), found[0]))
    if answer.status != HTTPStatus.NOT_MODIFIED and found[0].operation != "rate-limit/get":
        limits.spend("core")
    return answer.with_headers(**viewer_headers(limits, viewer, "core"))


def _require_reach(call: Call, route: Route) -> None:
    """Refuse a token whose scopes or permissions do not reach the operation."""
    viewer, reads = call.viewer, route.method == "GET"
    if not viewer.has_scopes and route.operation == "users/get-authenticated" and viewer.user.is_bot:
        raise Refused(Kind.FORBIDDEN, viewer.no_access)
    if "repo" not in call.params:
        return
    areas = operation_areas(route.operation)
    # What everyone may read of a public repository needs no permission, but for checks, which only apps have.
    if not reads or call.repository.private or areas == ("checks",):
        require_permission(viewer, areas, "read" if reads else "write")
    if not reads and viewer.has_scopes and not viewer.may_write_code:
        raise not_found()


def _handled(call: Call, route: Route) -> Answer:
    with call.world.lock:
        try:
            _require_reach(call, route)
            answer = route.handler(call)
        except Refused as refusal:
            return refused(refusal)
        carry_out(call.world)
        return answer
