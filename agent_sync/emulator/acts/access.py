"""Acts on what git, tokens and people may do."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations.refs import refuse_refs as refuse
from agent_sync.emulator.world.people import Role
from agent_sync.emulator.world.pushes import GitCredentials
from agent_sync.emulator.world.tokens import (
    ACTIONS_LOGIN,
    ACTIONS_PERMISSIONS,
    CLASSIC_SCOPES,
    IMPOSSIBLE,
    LEVELS,
    Policy,
    Token,
    TokenKind,
)

Outcome = dict[str, int | str]


def git_credentials(act: Act) -> Outcome:
    """Let git sign in before it pushes, and (unless `fetch` is false) before it fetches."""
    required = act.flag("required", default=True)
    act.world.git_credentials = GitCredentials(required, required and act.flag("fetch", default=True))
    return {"id": "git"}


def refuse_refs(act: Act) -> Outcome:
    """Refuse pushes to refs that match a pattern; without one, none are refused any more."""
    pattern = act.optional_text("pattern")
    refuse(act.repository, pattern)
    return {"id": pattern or ""}


def push_limit(act: Act) -> Outcome:
    """Refuse pushes that update more than so many branches or tags; null lifts the limit."""
    most = None if act.fields.get("refs") is None else act.number("refs")
    act.repository.push_rules.most_refs = most
    return {"id": act.repository.full_name}


def push_only(act: Act) -> Outcome:
    """Let only pushes pass whose refs all match the patterns, as a proxy of a sandbox does; none lifts this."""
    act.repository.push_rules.only = act.texts("patterns")
    return {"id": act.repository.full_name}


def token(act: Act) -> Outcome:
    """Configure a token: its kind, whose it is, its scopes or permissions, and where single sign-on lets it in."""
    name, kind = act.text("token"), act.text("kind", TokenKind.CLASSIC)
    if kind not in set(TokenKind):
        raise ImpossibleActError(f"unknown kind {kind!r}; known: {', '.join(TokenKind)}")
    chosen = TokenKind(kind)
    act.world.tokens[name] = Token(
        login=act.text("login", ACTIONS_LOGIN if chosen is TokenKind.ACTIONS else act.world.default_login),
        kind=chosen,
        scopes=tuple(act.texts("scopes")) if "scopes" in act.fields else CLASSIC_SCOPES,
        permissions=_permissions(act, chosen),
        sso=tuple(act.texts("sso")),
    )
    return {"id": name}


def _permissions(act: Act, kind: TokenKind) -> dict[str, str]:
    usual = ACTIONS_PERMISSIONS if kind is TokenKind.ACTIONS else {"metadata": "read"}
    given = act.fields.get("permissions", usual)
    if not isinstance(given, dict) or not set(given.values()) <= set(LEVELS):
        raise ImpossibleActError(f"the field 'permissions' maps areas to one of {', '.join(LEVELS)}")
    impossible = set(given) & IMPOSSIBLE.get(kind, set())
    if impossible:
        raise ImpossibleActError(f"a token of kind {kind} cannot have {', '.join(sorted(impossible))}")
    return given


def access_policy(act: Act) -> Outcome:
    """Let an organisation keep tokens out: saml, oauth, ip or classic; null lets them in again."""
    owner = act.text("owner", act.repository.owner.login)
    policy = act.optional_text("policy")
    if policy is None:
        act.world.policies.pop(owner.lower(), None)
    elif policy in set(Policy):
        act.world.policies[owner.lower()] = Policy(policy)
    else:
        raise ImpossibleActError(f"unknown policy {policy!r}; known: {', '.join(Policy)}")
    return {"id": owner}


def visibility(act: Act) -> Outcome:
    """Make the repository private, or public again."""
    act.repository.private = act.flag("private", default=True)
    return {"id": act.repository.full_name}


def weight_limit(act: Act) -> Outcome:
    """Refuse GraphQL documents that ask for more nodes than this; null leaves only GitHub's documented limit."""
    act.world.most_nodes = None if act.fields.get("nodes") is None else act.number("nodes")
    return {"id": "graphql"}


def read_only(act: Act) -> Outcome:
    """Archive the repository, which makes it read-only, or bring it back."""
    act.repository.archived = act.flag("on", default=True)
    return {"id": act.repository.full_name}


def role(act: Act) -> Outcome:
    """Give a user a role in the repository."""
    name, login = act.text("role"), act.text("user")
    if name not in set(Role):
        raise ImpossibleActError(f"unknown role {name!r}; known: {', '.join(Role)}")
    user = act.world.add_user(login)
    act.repository.roles[user.login.lower()] = Role(name)
    return {"id": user.login}
