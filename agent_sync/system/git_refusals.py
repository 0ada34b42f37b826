"""Why a remote did not do what git asked: nobody there, nobody signed in, or a rule that says no."""

import re
from collections.abc import Sequence
from enum import StrEnum

from agent_sync.errors import BadConfig, GitDenied, GitFailed
from agent_sync.lazy_patterns import pattern
from agent_sync.system.masking import masked

LONGEST = 900
_WORD = pattern(r"\w[\w.-]{0,49}")
_NOT_THERE = pattern(
    r"could not resolve host|couldn't resolve|failed to connect|couldn't connect|connection refused"
    r"|connection timed out|operation timed out|no route to host|network is unreachable|took longer than"
    r"|does not appear to be a git repository|no such file or directory|name or service not known"
    r"|temporary failure in name resolution|unable to look up",
    re.IGNORECASE,
)
_SIGN_IN = pattern(
    r"could not read (?:username|password)|authentication failed|permission denied \(|access denied"
    r"|returned error: 40[13]|http 40[13]\b|write access to repository not granted|denied to "
    r"|invalid username or token|no anonymous write access|host key verification failed|repository not found",
    re.IGNORECASE,
)
# How git says that this clone lacks an object, by whichever command notices.
_NO_OBJECT = pattern(
    r"(?:\b(?:bad|missing|nonexistent) (?:[a-z]+ )?object|not a valid object(?: name)?|unable to read(?: tree)?)"
    r":? [('\"]?[0-9a-f]{40}",
    re.IGNORECASE,
)
# What the server says line by line, and what git itself makes of it.
_REMOTE_LINE = pattern(r"^remote:[ \t]?", re.MULTILINE)


class PushRule(StrEnum):
    """A rule of a server that refuses pushes, by the words it is known by; the value says what it is."""

    RULESET = "a repository rule"
    POLICY = "a limit on how many refs one push may update"
    WORKFLOWS = "a token that may not write workflow files"
    ARCHIVED = "an archived repository"
    HIDDEN = "a ref that the server keeps for itself"
    BRANCH_ONLY = "a git proxy that takes the working branch only"


_MOST_REFS = pattern(r"more than (\d{1,9}) branches or tags", re.IGNORECASE)
_RULES = (
    (PushRule.RULESET, pattern(r"GH013|repository rule violations", re.IGNORECASE)),
    (PushRule.POLICY, _MOST_REFS),
    (PushRule.WORKFLOWS, pattern(r"without [`'\"]?workflows?[`'\"]? (?:permission|scope)", re.IGNORECASE)),
    (PushRule.ARCHIVED, pattern(r"archived so it is read-only|repository was archived", re.IGNORECASE)),
    (PushRule.HIDDEN, pattern(r"deny updating a hidden ref", re.IGNORECASE)),
    (PushRule.BRANCH_ONLY, pattern(r"rpc failed; http 403|limited to the working branch", re.IGNORECASE)),
)
_RULE_HELP = {
    PushRule.RULESET: "follow the rule that is named, or ask whoever administers the repository",
    PushRule.POLICY: "ask whoever administers the repository for a higher limit; agent-sync needs two refs in a push",
    PushRule.WORKFLOWS: "gh auth refresh --scopes workflow, or grant the token Workflows: write",
    PushRule.ARCHIVED: "ask whoever administers the repository to unarchive it",
    PushRule.HIDDEN: "use another branch name",
    PushRule.BRANCH_ONLY: "push the branch that the session was given, or agent-sync doctor --live",
}


def refs_allowed(said: str) -> int:
    """Return how many refs a push may update by the limit that refused one; 0 where none is named."""
    found = _MOST_REFS.search(said)
    return int(found[1]) if found else 0


def push_rule(said: str) -> PushRule | None:
    """Return which known rule refused a push."""
    return next((rule for rule, words in _RULES if words.search(said)), None)


def is_sign_in_trouble(said: str) -> bool:
    """Tell whether the remote answered, and wants somebody who may do this."""
    return push_rule(said) is None and bool(_SIGN_IN.search(said))


def is_unreachable(said: str) -> bool:
    """Tell whether nobody answered at all."""
    return bool(_NOT_THERE.search(said)) and not _SIGN_IN.search(said)


def is_object_missing(said: str) -> bool:
    """Tell whether git lacks an object; one that no ref had yet may have been removed by `git gc --prune=now`."""
    return bool(_NO_OBJECT.search(said))


def rule_help(rule: PushRule) -> str:
    """Return what helps against a rule."""
    return _RULE_HELP[rule]


def sign_in_help(address: str) -> str:
    """Return the command that gives git credentials for an address."""
    if address.startswith(("https://", "http://")):
        return "gh auth setup-git, or a GH_TOKEN that may write to the repository"
    return "ssh -T git@HOST to see why, or git remote set-url to the https address and gh auth setup-git"


def sign_in_error(said: str, *, remote: str, address: str, attempted: str, otherwise: str = "") -> GitDenied:
    """Return that git has no credentials for a remote that answered, and what helps."""
    message = f"Git may not write to {remote}: {one_line(said)}"
    helps = sign_in_help(address) + (f"; {otherwise}" if otherwise else "")
    return GitDenied(message, attempted=attempted, helps=helps)


def remote_failure(said: str, *, remote: str, address: str, attempted: str) -> GitFailed:
    """Return why a remote could not be asked, and what helps."""
    if is_sign_in_trouble(said):
        return sign_in_error(said, remote=remote, address=address, attempted=attempted)
    return GitFailed(f"git said: {one_line(said)}", attempted=attempted)


def push_failure(said: str, *, remote: str, address: str, branch: str) -> GitFailed:
    """Return why a branch could not be pushed, and what helps."""
    attempted = f"pushing branch {branch} to {remote}"
    if "non-fast-forward" in said or "fetch first" in said:
        message = f"Branch {branch} on {remote} has commits that are not here."
        return GitFailed(message, attempted=attempted, helps=f"git pull --rebase {remote} {branch}")
    rule = push_rule(said)
    if rule:
        message = f"The push was refused by {rule.value}: {one_line(said)}"
        return GitFailed(message, attempted=attempted, helps=rule_help(rule))
    if is_sign_in_trouble(said):
        return sign_in_error(said, remote=remote, address=address, attempted=attempted)
    return GitFailed(f"git push failed: {one_line(said)}.", attempted=attempted, helps=f"git push {remote} {branch}")


def one_line(said: str) -> str:
    """Return what git said, with what the server said in full before git's own words, in one masked line."""
    lines = said.splitlines()
    refused = [line for line in lines if line.startswith("!")]
    theirs = [_REMOTE_LINE.sub("", line) for line in lines if line.startswith("remote:")]
    rest = [line for line in lines if not line.startswith(("!", "remote:", "To ", "Done"))]
    words = " ".join(" ".join([*refused, *theirs, *rest]).split())
    return masked(words)[:LONGEST]


def no_remote(name: str, others: Sequence[str]) -> BadConfig:
    """Return that no remote of this name is configured, and what helps."""
    known = f"it has {', '.join(map(repr, others))}" if others else "it has none"
    happened = f"This clone has no remote {name[:100]!r} ({known}), so git was not asked to talk to it."
    word = name if _WORD.fullmatch(name) else "NAME"
    return BadConfig(happened, helps=f"git remote add {word} URL, or correct `git.remote` in the settings")
