"""GraphQL over HTTP: sign in, read the body, and hand the document to the GraphQL view."""

import re
from typing import Any

from agent_sync.emulator.credentials import token_of
from agent_sync.emulator.exchange import Answer, Asked, error_answer, json_answer
from agent_sync.emulator.graphql import execute
from agent_sync.emulator.limits import Limits
from agent_sync.emulator.operations.merges.auto_merging import carry_out
from agent_sync.emulator.operations.rights.policies import sso_url
from agent_sync.emulator.rest.headers import viewer_headers
from agent_sync.emulator.rest.refusals import refused
from agent_sync.emulator.world.refusal import Refused
from agent_sync.emulator.world.tokens import Policy
from agent_sync.emulator.world.world import World

NAMED = re.compile(r"\b(?:query|mutation)\s+([_A-Za-z]\w*)")


def graphql_operation(body: Any) -> str | None:
    """Return the name of the operation a request asks for, if it has one."""
    if not isinstance(body, dict):
        return None
    if isinstance(body.get("operationName"), str) and body["operationName"]:
        return str(body["operationName"])
    named = NAMED.search(str(body.get("query", "")))
    return named[1] if named else None


def answer_graphql(world: World, limits: Limits, asked: Asked) -> Answer:
    """Answer one GraphQL request."""
    try:
        with world.lock:
            viewer = world.viewer(token_of(asked.headers))
    except Refused as refusal:
        return refused(refusal)
    if asked.method != "POST":
        return error_answer(404, "Not Found")
    try:
        body = asked.json()
    except ValueError:
        return error_answer(400, "Problems parsing JSON")
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        return error_answer(400, "A query attribute must be specified and must be a string.")
    limits.spend("graphql")
    with world.lock:
        result = execute(world, viewer, body, asked.links.web)
        carry_out(world)
    answer = json_answer(200, result).with_headers(**viewer_headers(limits, viewer, "graphql"))
    return answer.with_headers(**_sign_on(world, result))


def _sign_on(world: World, result: dict[str, Any]) -> dict[str, str]:
    """Return the header that leads to single sign-on, if an error is about that."""
    if not any(error.get("extensions", {}).get("saml_failure") for error in result.get("errors", ())):
        return {}
    owners = (login for login, policy in world.policies.items() if policy is Policy.SAML)
    return {"x_github_sso": f"required; url={sso_url(next(owners))}"}
