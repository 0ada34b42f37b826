"""The root, rate limits, and people."""

from agent_sync.emulator.exchange import Answer, json_answer
from agent_sync.emulator.limits import RESOURCES
from agent_sync.emulator.rest.call import Call
from agent_sync.emulator.rest.shapes.people import private_user, public_user


def root(call: Call) -> Answer:
    """Answer where things are."""
    api = call.links.api
    return json_answer(
        200,
        {
            "current_user_url": f"{api}/user",
            "issues_url": f"{api}/issues",
            "rate_limit_url": f"{api}/rate_limit",
            "repository_url": api + "/repos/{owner}/{repo}",
            "user_url": api + "/users/{user}",
        },
    )


def meta(_call: Call) -> Answer:
    """Answer what this server is."""
    return json_answer(200, {"verifiable_password_authentication": False})


def rate_limit(call: Call) -> Answer:
    """Answer what is left of each budget."""
    reports = {name: call.limits.report(name) for name in RESOURCES}
    return json_answer(200, {"resources": reports, "rate": reports["core"]})


def authenticated_user(call: Call) -> Answer:
    """Answer who is asking."""
    return json_answer(200, private_user(call.links, call.viewer.user))


def user(call: Call) -> Answer:
    """Answer a user's profile."""
    return json_answer(200, public_user(call.links, call.world.user(call.params["username"])))


ROUTES = (
    ("GET", "/", "meta/root", root),
    ("GET", "/meta", "meta/get", meta),
    ("GET", "/rate_limit", "rate-limit/get", rate_limit),
    ("GET", "/user", "users/get-authenticated", authenticated_user),
    ("GET", "/users/{username}", "users/get-by-username", user),
)
