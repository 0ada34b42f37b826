"""Why a remote did not do what git asked: nobody there, nobody signed in, or a rule that says no."""

import re
from collections.abc import Sequence
from enum import StrEnum

from agent_sync.errors import BadConfig, Exit, GitDenied, GitFailed
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
    r"|invalid username or token|no anonymous write access|host key verification failed|repository not found"
    r"|password authentication was removed|enforced SAML SSO|marked as read only",
    re.IGNORECASE,
)
# How git says that this clone lacks an object, by whichever command notices.
_NO_OBJECT = pattern(
    r"(?:\b(?:bad|missing|nonexistent) (?:[a-z]+ )?object|not a valid object(?: name)?|unable to read(?: tree)?)"
    r":? [('\"]?[0-9a-f]{40}",
    re.IGNORECASE,
)
_MOVED = pattern(r"This repository moved\. [^\n]*\nremote:[ \t]+([\w@:/.~+-]+)[ \t]*$", re.MULTILINE)
_SIGN_ON_PAGE = pattern(r"visit[ \t]+(https://\S+/sso\?\S+)", re.IGNORECASE)
# Two pushes that arrive at once: the later one is told where the ref is now, and not that it is stale.
_LOST_RACE = pattern(r"cannot lock ref '[^']*': (?:is at \w+ but expected|reference already exists)", re.IGNORECASE)
_SERVER_FAILED = pattern(r"\((?:remote failed to report status|internal server error)\)", re.IGNORECASE)
# What the server says line by line, and what git itself makes of it.
_REMOTE_LINE = pattern(r"^remote:[ \t]?", re.MULTILINE)
_NOISE = pattern(
    r"(?:Resolving deltas|error: Trace|error: failed to push some refs|hint:|Total \d)|[\s—]*$", re.IGNORECASE
)
# Of a long text about a secret these lines say which one, where it is, and what unblocks it.
_SECRET_FOUND = pattern(r"GH013|cannot contain secrets|^\s*—+ \w|commit:|path:|unblock-secret", re.IGNORECASE)


class PushRule(StrEnum):
    """A rule of a server that refuses pushes, by the words it is known by; the value says what it is."""

    SECRET = "push protection: a commit holds a secret"  # noqa: S105  # no password
    PROTECTED = "a protected branch"
    LARGE = "the limit on the size of files"
    EMAIL = "the protection of private email addresses"
    NAME = "a branch whose name is a folder of this one"
    RULESET = "a repository rule"
    POLICY = "a limit on how many refs one push may update"
    WORKFLOWS = "a token that may not write workflow files"
    ARCHIVED = "an archived repository"
    HIDDEN = "a ref that the server keeps for itself"
    BRANCH_ONLY = "a git proxy that takes the working branch only"


_MOST_REFS = pattern(r"more than (\d{1,9}) branches or tags", re.IGNORECASE)
_RULES = (
    (PushRule.SECRET, pattern(r"push cannot contain secrets|github push protection", re.IGNORECASE)),
    (PushRule.PROTECTED, pattern(r"GH006|protected branch hook declined", re.IGNORECASE)),
    (PushRule.LARGE, pattern(r"GH001", re.IGNORECASE)),
    (PushRule.EMAIL, pattern(r"GH007|email privacy restrictions", re.IGNORECASE)),
    (PushRule.NAME, pattern(r"exists; cannot create", re.IGNORECASE)),
    (PushRule.RULESET, pattern(r"GH013|repository rule violations", re.IGNORECASE)),
    (PushRule.POLICY, _MOST_REFS),
    (PushRule.WORKFLOWS, pattern(r"without [`'\"]?workflows?[`'\"]? (?:permission|scope)", re.IGNORECASE)),
    (PushRule.ARCHIVED, pattern(r"archived so it is read-only|repository was archived", re.IGNORECASE)),
    (PushRule.HIDDEN, pattern(r"deny updating a hidden ref", re.IGNORECASE)),
    (PushRule.BRANCH_ONLY, pattern(r"rpc failed; http 403|limited to the working branch", re.IGNORECASE)),
)
_RULE_HELP = {
    PushRule.SECRET: (
        "take the secret out of the commits (git rebase -i) and revoke it; a person may allow it at the address"
    ),
    PushRule.PROTECTED: "git branch -m to a name that no protected pattern covers, or ask an administrator for one",
    PushRule.LARGE: "take the file out of the commits (git rebase -i), or keep it with git lfs",
    PushRule.EMAIL: (
        "git config user.email ID+LOGIN@users.noreply.github.com, then git commit --amend --reset-author --no-edit"
    ),
    PushRule.NAME: "git branch -m to another name",
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


def moved_to(said: str) -> str:
    """Return the new address of a repository that was renamed, where the server names it."""
    found = _MOVED.search(said)
    return found[1] if found else ""


def is_lost_race(said: str) -> bool:
    """Tell whether another push to the same ref was faster."""
    return bool(_LOST_RACE.search(said))


def is_server_failure(said: str) -> bool:
    """Tell whether the server failed while it took a push, which may have landed anyway."""
    return bool(_SERVER_FAILED.search(said))


def sign_in_help(address: str, said: str = "") -> str:
    """Return what lets git in at an address, from what the server said."""
    page, is_web = _SIGN_ON_PAGE.search(said), address.startswith(("https://", "http://"))
    if page:
        return f"open {page[1]} in a browser and sign in to the organisation"
    if "re-authorize" in said:
        return "gh auth refresh, which leads to the organisation's single sign-on"
    if "SAML SSO" in said:
        key = "SSH key" if not is_web or "ERROR:" in said else "token"
        return f"authorise the {key} for the organisation in GitHub's settings (Configure SSO)"
    if "marked as read only" in said:
        return "use a key with write access, or git remote set-url to the https address and gh auth setup-git"
    if is_web:
        return "gh auth setup-git, or a GH_TOKEN that may write to the repository"
    return "ssh -T git@HOST to see why, or git remote set-url to the https address and gh auth setup-git"


def sign_in_error(said: str, *, remote: str, address: str, attempted: str, otherwise: str = "") -> GitDenied:
    """Return that git has no credentials for a remote that answered, and what helps."""
    message = f"Git may not write to {remote}: {one_line(said)}"
    helps = sign_in_help(address, said) + (f"; {otherwise}" if otherwise else "")
    return GitDenied(message, attempted=attempted, helps=helps)


def remote_failure(said: str, *, remote: str, address: str, attempted: str) -> GitFailed:
    """Return why a remote could not be asked, and what helps."""
    if is_sign_in_trouble(said):
        return sign_in_error(said, remote=remote, address=address, attempted=attempted)
    return GitFailed(f"git said: {one_line(said)}", attempted=attempted)


def push_failure(said: str, *, remote: str, address: str, branch: str) -> GitFailed:
    """Return why a branch could not be pushed, and what helps."""
    attempted = f"pushing branch {branch} to {remote}"
    if "non-fast-forward" in said or "fetch first" in said or is_lost_race(said):
        message = f"Branch {branch} on {remote} has commits that are not here."
        return GitFailed(message, attempted=attempted, helps=f"git pull --rebase {remote} {branch}")
    rule = push_rule(said)
    if rule:
        message = f"The push was refused by {rule.value}: {one_line(said)}"
        return GitFailed(message, attempted=attempted, helps=rule_help(rule))
    if is_sign_in_trouble(said):
        return sign_in_error(said, remote=remote, address=address, attempted=attempted)
    failed = GitFailed(f"git push failed: {one_line(said)}.", attempted=attempted, helps="agent-sync doctor")
    if is_server_failure(said) or is_unreachable(said):
        failed.exit_status, failed.helps = Exit.PENDING, "run the same command again later"
    return failed


def one_line(said: str) -> str:
    """Return what git said, with what the server said in full before git's own words, in one masked line."""
    lines = said.splitlines()
    rows = [line.split("\t") for line in lines if line.startswith("!")]
    refused = [line for line in _refusals(rows) if not is_atomic_echo(line)]
    theirs = [_REMOTE_LINE.sub("", line) for line in lines if line.startswith("remote:")]
    if push_rule(said) is PushRule.SECRET:
        theirs = [line for line in theirs if _SECRET_FOUND.search(line)] or theirs
    rest = [line for line in lines if not line.startswith(("!", "remote:", "To ", "Done"))]
    kept = [line for line in (*theirs, *rest) if not _NOISE.match(line)]
    words = masked(" ".join(" ".join([*refused, *kept]).split()))
    # Cut between words: half an address does not help.
    return words if len(words) <= LONGEST else words[:LONGEST].rpartition(" ")[0] + " …"


def is_atomic_echo(line: str) -> bool:
    """Tell whether a row only says that another ref of the same push was refused."""
    return "atomic push failed" in line or "atomic transaction failed" in line


def _refusals(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return git's row for each ref it was refused, without shas; refs of ours only where they are alone."""
    named = [(row[1].rpartition(":")[2], row[2]) for row in rows if len(row) > 2]  # noqa: PLR2004  # flag, ref, reason
    shown = [one for one in named if not one[0].startswith("refs/agentsync/")] or named
    return [f"{name.removeprefix('refs/heads/')} {reason}" for name, reason in shown]


def no_remote(name: str, others: Sequence[str]) -> BadConfig:
    """Return that no remote of this name is configured, and what helps."""
    known = f"it has {', '.join(map(repr, others))}" if others else "it has none"
    happened = f"This clone has no remote {name[:100]!r} ({known}), so git was not asked to talk to it."
    word = name if _WORD.fullmatch(name) else "NAME"
    return BadConfig(happened, helps=f"git remote add {word} URL, or correct `git.remote` in the settings")
