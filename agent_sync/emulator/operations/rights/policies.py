"""Organisations that keep tokens out: single sign-on, app restrictions, allow lists, classic tokens."""

from agent_sync.emulator.world.people import User, Viewer
from agent_sync.emulator.world.refusal import Kind, Refused
from agent_sync.emulator.world.tokens import Policy, TokenKind
from agent_sync.emulator.world.world import World

CREDENTIALS = "Although you appear to have the correct authorization credentials, the"
WORDS = {
    Policy.SAML: (
        "Resource protected by organization SAML enforcement. "
        "You must grant your Personal Access token access to this organization."
    ),
    Policy.OAUTH: (
        CREDENTIALS + " `{org}` organization has enabled OAuth App access restrictions, meaning that data access to "
        "third-parties is limited. For more information on these restrictions, including how to enable this app, visit "
        "https://docs.github.com/articles/restricting-access-to-your-organization-s-data/"
    ),
    Policy.IP: (
        CREDENTIALS + " `{org}` organization has an IP allow list enabled, and your IP address is not permitted to "
        "access this resource."
    ),
    Policy.CLASSIC: (
        "`{org}` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a "
        "personal access token with fine-grained permissions."
    ),
}


def require_welcome(world: World, viewer: Viewer, owner: User) -> None:
    """Refuse a token that the owner's organisation keeps out."""
    policy = world.policies.get(owner.login.lower())
    if policy is None or viewer.overrules or not _is_kept_out(viewer, owner, policy):
        return
    headers = {"x-github-sso": f"required; url={sso_url(owner.login)}"} if policy is Policy.SAML else {}
    extensions = {"saml_failure": True} if policy is Policy.SAML else {}
    said = WORDS[policy].format(org=owner.login)
    raise Refused(Kind.FORBIDDEN, said, headers=headers, extensions=extensions)


def _is_kept_out(viewer: Viewer, owner: User, policy: Policy) -> bool:
    kinds = {None, TokenKind.CLASSIC, TokenKind.OAUTH, TokenKind.FINE_GRAINED}
    match policy:
        case Policy.SAML:
            return viewer.kind in kinds and owner.login.lower() not in viewer.sso
        case Policy.OAUTH:
            return viewer.kind in {None, TokenKind.OAUTH}
        case Policy.IP:
            return True
        case Policy.CLASSIC:
            return viewer.kind in {None, TokenKind.CLASSIC}


def sso_url(login: str) -> str:
    """Return where people let a token into an organisation."""
    return f"https://github.com/orgs/{login}/sso?authorization_request=A1B2C3D4"
