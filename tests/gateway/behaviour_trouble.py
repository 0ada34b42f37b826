"""Behaviour when GitHub, the token or the network is in the way."""

from behaviour import MARKER, MOVED, NO_SCOPE, Behaviour, change_of, closure, failed, nothing, order, pushed
from documented import answer, error, page, refusal
from proxied import Failure

from agent_sync.errors import GitHubDown, MissingScope, NotFound, NotSignedIn, RateLimited, Refused
from agent_sync.task.decision.facts import NoCard

TROUBLE = {
    "lookup-without-project-scope": Behaviour(
        lambda g: g.lookup(branch="work", issue=42),
        pushed,
        {"Lookup": [NO_SCOPE, answer(owner={})]},
        lambda seen: seen.commits_ahead == 1 and "lacks the scope project" in seen.card.reason,
        token="no-project-scope",
    ),
    "card-without-project-scope": Behaviour(
        lambda g: g.card(42),
        nothing,
        {"Card": NO_SCOPE},
        lambda card: isinstance(card, NoCard) and "read:project" not in card.reason and "scope" in card.reason,
        token="no-project-scope",
    ),
    "pull-refused-to-a-token-that-reads": Behaviour(
        lambda g: g.open_pull(order(g)),
        pushed,
        {
            "Lookup": answer(),
            "OpenPull": {
                "data": {"pull": None, "status": None, "agent": None},
                "errors": [
                    error("FORBIDDEN", "Resource not accessible by personal access token", name)
                    for name in ("pull", "status", "agent")
                ],
            },
        },
        failed(MissingScope, "Resource not accessible", "doctor --live"),
        token="read-only",
    ),
    "closing-without-project-scope": Behaviour(
        lambda g: g.closing(issue=42, pull=None, branch="", marker=MARKER),
        nothing,
        {"Closing": [NO_SCOPE, answer(owner={})]},
        lambda seen: seen.is_open and "scope" in seen.card.reason,
        token="no-project-scope",
    ),
    "task-not-closed-by-a-token-that-reads": Behaviour(
        lambda g: g.close_task(closure(g)),
        nothing,
        {
            "Closing": answer(),
            "CloseTask": {
                "data": {"comment": None, "close": None, "status": None},
                "errors": [
                    error("FORBIDDEN", "Resource not accessible by personal access token", name)
                    for name in ("comment", "close", "status")
                ],
            },
        },
        failed(MissingScope, "Resource not accessible", "closing issue #42"),
        token="read-only",
    ),
    "board-without-project-scope": Behaviour(
        lambda g: g.board(), nothing, {"Board": NO_SCOPE}, failed(MissingScope, "scope"), token="no-project-scope"
    ),
    "token-that-is-not-accepted": Behaviour(
        lambda g: g.card(42),
        nothing,
        {"Card": refusal(401, "Bad credentials")},
        failed(NotSignedIn, "does not accept the token", "gh auth login"),
        token="bad-token",
    ),
    "read-tried-again-after-502": Behaviour(
        lambda g: g.card(42).status,
        lambda local: local.fault("status:502", times=2, operation="Card"),
        {"Card": [refusal(502, "Server Error"), refusal(502, "Server Error"), answer()]},
        lambda came: came == "Todo",
    ),
    "read-given-up-after-three-times-503": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("status:503", times=3, operation="Card"),
        {"Card": refusal(503, "Service Unavailable")},
        failed(GitHubDown, "503"),
    ),
    "write-not-tried-again-after-504": Behaviour(
        lambda g: g.move_card(change_of(g)),
        lambda local: local.fault("status:504", operation="MoveCard"),
        {"Card": answer(), "MoveCard": [refusal(504, "Gateway Timeout"), MOVED]},
        lambda came: failed(GitHubDown, "504", "may have been done")(came) and came.maybe_applied,
    ),
    "secondary-limit-on-a-read": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("secondary_limit", operation="Card"),
        {"Card": refusal(403, "You have exceeded a secondary rate limit.", retry_after="60")},
        failed(RateLimited, "secondary rate limit"),
    ),
    "primary-limit-in-graphql": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("primary_limit", operation="Card"),
        {
            "Card": {
                "errors": [{"type": "RATE_LIMITED", "code": "graphql_rate_limit", "message": "API rate limit exceeded"}]
            }
        },
        failed(RateLimited, "rate limit is reached"),
    ),
    "secondary-limit-as-429": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("status:429", operation="Card"),
        {"Card": refusal(429, "You have exceeded a secondary rate limit.", retry_after="60")},
        failed(RateLimited, "secondary rate limit"),
    ),
    "404-that-means-no-access": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("status:404", operation="Card"),
        {"Card": refusal(404, "Not Found")},
        failed(NotFound, "does not show it to this token", "agent-sync doctor"),
    ),
    "422-of-a-whole-request": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("status:422", operation="Card"),
        {"Card": refusal(422, "Unprocessable Entity")},
        failed(Refused, "422"),
    ),
    "403-without-a-hint": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("status:403", operation="Card"),
        {"Card": refusal(403, "Forbidden")},
        failed(MissingScope, "Forbidden", "doctor --live"),
    ),
    "html-from-a-proxy": Behaviour(
        lambda g: g.card(42),
        lambda local: local.fault("garbage", times=3, operation="Card"),
        {"Card": page(200, "<html><body>proxy error</body></html>")},
        failed(GitHubDown, "HTML page, perhaps of a proxy"),
    ),
    "write-cut-off": Behaviour(
        lambda g: g.move_card(change_of(g)),
        lambda local: local.fault("drop_after_apply", operation="MoveCard"),
        {"Card": answer(), "MoveCard": Failure.HANG_UP},
        lambda came: failed(GitHubDown, "broke", "may have been done")(came) and came.maybe_applied,
    ),
}
