"""Refusals that no scope helps against, known by GitHub's own words, each with the step that does."""

import re
from enum import Enum

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern

_URL = pattern(r"url=(https://[^\s;,]+)")
_PAGE = pattern(r"(https://[^\s\"'<>]*[\w/])")
_NEEDED = pattern(r"requires one of the following scopes: \[([^\]]*)\]")
# What a wider scope includes.
_INCLUDED = {"project": {"read:project"}, "repo": {"public_repo", "repo:status", "repo_deployment"}}


class Policy(Enum):
    """Who keeps a token out that is good elsewhere, by the words GitHub uses."""

    SAML = pattern(r"SAML enforcement|saml_failure|SAML SSO", re.IGNORECASE)
    OAUTH = pattern(r"OAuth App access restrictions", re.IGNORECASE)
    IP_LIST = pattern(r"IP allow list", re.IGNORECASE)
    # Before the two kinds of token, which the same sentence names.
    LIFETIME = pattern(r"forbids access via [^\n]{0,200}lifetime", re.IGNORECASE)
    CLASSIC = pattern(r"forbids access via a personal access token \(classic\)", re.IGNORECASE)
    FINE_GRAINED = pattern(r"forbids access via a fine-grained personal access token", re.IGNORECASE)
    ARCHIVED = pattern(r"was archived so (?:it )?is read-only", re.IGNORECASE)


_STEPS = {
    Policy.OAUTH: "ask an owner of the organisation to approve the app, or export GH_TOKEN with a personal token",
    Policy.IP_LIST: "connect through a network that the organisation's IP allow list names",
    Policy.LIFETIME: "make a token that expires within the time the organisation allows",
    Policy.CLASSIC: "export GH_TOKEN with a fine-grained token for this organisation, or gh auth login",
    Policy.FINE_GRAINED: "export GH_TOKEN with a classic token or one that the organisation has approved",
    Policy.ARCHIVED: "ask whoever administers the repository to unarchive it",
}


@dataclass(frozen=True)
class Refusal:
    """A refusal that is known: why, and the step that helps."""

    policy: Policy
    helps: str


def known_refusal(message: str, *, sign_on: str = "") -> Refusal | None:
    """Return which known refusal a sentence is; `sign_on` is the header that leads to single sign-on, if any."""
    url = _URL.search(sign_on)
    if url or Policy.SAML.value.search(message):
        where = url[1] if url else "the organisation's single sign-on page (gh auth refresh leads there)"
        return Refusal(Policy.SAML, f"authorise the token at {where}")
    found = next((policy for policy in _STEPS if policy.value.search(message)), None)
    page = _PAGE.search(message) if found is Policy.LIFETIME else None
    if page:
        return Refusal(Policy.LIFETIME, f"shorten the token's lifetime at {page[1]}")
    return Refusal(found, _STEPS[found]) if found else None


def lacks_permission(message: str) -> bool:
    """Tell whether a sentence says that a token of this kind was not given a permission."""
    return "resource not accessible" in message.lower()


def unmet_scopes(accepted: str, granted: str | None) -> tuple[str, ...]:
    """Return the scopes of which one would do, from GitHub's header; none where the token has one of them."""
    wanted = tuple(scope.strip() for scope in accepted.split(",") if scope.strip())
    held = (scope.strip() for scope in (granted or "").split(",") if scope.strip())
    return () if any(is_met(scope, wanted) for scope in held) else wanted


def needed_permissions(accepted: str) -> str:
    """Return the permissions that would do, from GitHub's header: `;` parts alternatives, `,` joins them."""
    ways = ([one.strip().partition("=") for one in way.split(",") if one.strip()] for way in accepted.split(";"))
    named = [[f"{name.replace('_', ' ').capitalize()}: {level}" for name, _, level in way if level] for way in ways]
    known = dict.fromkeys(" and ".join(way) for way in named if way)
    return "" if "allows_permissionless_access=true" in accepted else " or ".join(known)


def needed_scopes(message: str) -> tuple[str, ...]:
    """Return the scopes of which GitHub wants one."""
    found = _NEEDED.search(message)
    return tuple(re.findall(r"[\w:]+", found[1])) if found else ()


def is_met(scope: str, needed: tuple[str, ...]) -> bool:
    """Tell whether a scope would do where one of some is needed."""
    return not needed or bool(({scope} | _INCLUDED.get(scope, set())) & set(needed))
