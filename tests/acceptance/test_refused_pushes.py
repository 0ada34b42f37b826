"""Pushes that GitHub refuses: the cause in its own words, the step that helps, and an exit code for credentials."""

import os
import re
from pathlib import Path

import pytest
from support.clones import told
from support.git_shim import RefusingGit

SSO = "https://github.com/orgs/acme/sso?authorization_request=AAAA"
UNBLOCK = "https://github.com/acme/api/security/secret-scanning/unblock-secret/2gakJrAudud"
DECLINED = "[remote rejected] (pre-receive hook declined)"
RULES = "[remote rejected] (push declined due to repository rule violations)"


def https(*lines):
    """Return what git prints where GitHub's web server refuses it."""
    said = "".join(f"remote: {line}\n" for line in lines)
    return f"{said}fatal: unable to access 'https://github.com/acme/api.git/': The requested URL returned error: 403\n"


def remote(*lines):
    """Return what git prints of a server's own words."""
    return "".join(f"remote: {line}\n" for line in lines) + "error: failed to push some refs to 'origin'\n"


# Each row: what git prints, its reason per ref, the exit code, what must be said, what must not.
CREDENTIALS = {
    "no write access": (https("Write access to repository not granted."), ["Write access"], ["setup-git"]),
    "denied to a user": (https("Permission to acme/api.git denied to mona."), ["denied to mona"], ["setup-git"]),
    "password": (
        (
            "remote: Support for password authentication was removed on August 13, 2021.\n"
            "fatal: Authentication failed for 'https://github.com/acme/api.git/'\n"
        ),
        ["password authentication was removed"],
        ["setup-git"],
    ),
    "single sign-on": (
        https("The `acme' organization has enabled or enforced SAML SSO. To access", f"this repository, visit {SSO}"),
        ["SAML SSO"],
        [f"open {SSO}"],
    ),
    "app to authorise again": (
        https(
            "The 'acme' organization has enabled or enforced SAML SSO.",
            "To access this repository, you must re-authorize the OAuth Application 'GitHub CLI'.",
        ),
        ["re-authorize the OAuth Application"],
        ["gh auth refresh"],
    ),
    "single sign-on by ssh": (
        (
            "ERROR: The `acme' organization has enabled or enforced SAML SSO. To access\n"
            "this repository, you must use the HTTPS remote with a personal access token\n"
            "fatal: Could not read from remote repository.\n"
        ),
        ["SAML SSO"],
        ["authorise the SSH key for the organisation"],
    ),
    "key that may only read": (
        (
            "ERROR: The key you are authenticating with has been marked as read only.\n"
            "fatal: Could not read from remote repository.\n"
        ),
        ["marked as read only"],
        ["a key with write access"],
    ),
}

RULED = {
    "protected branch": (
        remote("error: GH006: Protected branch update failed for refs/heads/x.", "- Changes must be made through a pull request."),
        "[remote rejected] (protected branch hook declined)",
        ["a protected branch", "Changes must be made through a pull request"],
        ["git branch -m"],
    ),
    "large file": (
        remote(
            "error: Trace: 4d8e35248ebbf5e8e2ea71623e57e0b8fd5ffa09c0dff8db962e59d51823aad6",
            "error: File films/a.mov is 117.80 MB; this exceeds GitHub's file size limit of 100.00 MB",
            "error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.",
        ),
        DECLINED,
        ["films/a.mov is 117.80 MB"],
        ["git lfs"],
    ),
    "private address": (
        remote("error: GH007: Your push would publish a private email address."),
        "[remote rejected] (push declined due to email privacy restrictions)",
        ["GH007"],
        ["git config user.email", "users.noreply.github.com", "--reset-author"],
    ),
    "secret": (
        remote(
            "error: GH013: Repository rule violations found for refs/heads/x.",
            "- GITHUB PUSH PROTECTION",
            "  " + "—" * 40,
            "    - Push cannot contain secrets",
            *["     (?) Learn how to resolve a blocked push, in words that go on and on and on for a while"] * 12,
            "      —— GitHub Personal Access Token ——————",
            "       locations:",
            "         - commit: 5477a7dd26384ed3c8b3814ee677f755ad27a597",
            "           path: src/api/github.ts:34",
            f"       {UNBLOCK}",
        ),
        RULES,
        ["commit: 5477a7dd26384ed3c8b3814ee677f755ad27a597", "path: src/api/github.ts:34", UNBLOCK],
        ["take the secret out of the commits", "revoke it"],
    ),
    "rule of the repository": (
        remote("error: GH013: Repository rule violations found for refs/heads/x.", "- Commits must have verified signatures."),
        RULES,
        ["a repository rule", "verified signatures"],
        ["follow the rule"],
    ),
    "name that is a folder": (
        remote(),
        "[remote rejected] (cannot lock ref 'refs/heads/a/b/c': 'refs/heads/a/b' exists; cannot create 'refs/heads/a/b/c')",
        ["exists; cannot create"],
        ["git branch -m"],
    ),
    "lost race": (
        remote(),
        "[remote rejected] (cannot lock ref 'refs/heads/x': is at 98bf7e54 but expected 00da1b35)",
        ["has commits that are not here"],
        ["git pull --rebase origin"],
    ),
    "lost race for a new branch": (
        remote(),
        "[remote rejected] (cannot lock ref 'refs/heads/x': reference already exists)",
        ["has commits that are not here"],
        ["git pull --rebase origin"],
    ),
}  # fmt: skip

DOWN = {
    "no status": "[remote failure] (remote failed to report status)",
    "server error for each ref": "[remote rejected] (Internal Server Error)",
}


@pytest.fixture
def ready(theatre):
    """Return a clone with a claim and a commit, and the git whose pushes can be refused."""
    shim = RefusingGit(theatre.stage)
    assert theatre.stage.command("claim", "42").status == 0
    theatre.stage.commit("work.txt", "work\n", "Work")
    return theatre, shim


def test_credentials_that_are_refused_in_the_middle_of_a_task_are_called_that(ready):
    """At handoff, push and release: exit 4, GitHub's words, and the step that lets git in; no claim is in doubt."""
    theatre, shim = ready
    for name, (said, words, helps) in CREDENTIALS.items():
        shim.refuse(said)
        for command in ("handoff", "push"):
            played = theatre.stage.command(command)
            assert (played.status, "error[git-denied]" in played.stderr) == (4, True), (name, command, told(played))
            assert [word for word in (*words, *helps) if word not in played.stderr] == [], (name, played.stderr)
            assert "same command again" not in played.stderr.partition("try:")[2], (name, played.stderr)
    released = theatre.stage.command("release")
    assert (released.status, "error[git-denied]" in released.stderr) == (4, True), told(released)
    shim.allow()
    assert theatre.stage.command("handoff").status == 0


def test_rule_is_named_with_the_step_that_helps(ready):
    """A refused push says which rule refused it and what to change; never that the same push be tried again."""
    theatre, shim = ready
    for name, (said, reason, words, helps) in RULED.items():
        shim.refuse(said, reason)
        played = theatre.stage.command("handoff")
        assert played.status == 1, (name, told(played))
        what, _, step = played.stderr.partition("  try: ")
        assert [word for word in words if word not in what] == [], (name, what)
        assert [word for word in helps if word not in step] == [], (name, step)
        assert ("git push" in step, "refs/agentsync" in what) == (False, False), (name, played.stderr)
    shim.allow()
    assert theatre.stage.command("handoff").status == 0


def test_server_that_fails_during_a_push_is_tried_again_later(ready):
    """A push that the server neither took nor refused has not landed: exit 8."""
    theatre, shim = ready
    for name, reason in DOWN.items():
        shim.refuse("remote: Internal Server Error\nerror: failed to push some refs to 'origin'\n", reason)
        played = theatre.stage.command("handoff")
        assert (played.status, "Internal Server Error" in played.stderr) == (8, True), (name, told(played))
    theatre.edit_claim(lease=None)
    played = theatre.stage.command("push")
    assert (played.status, "Internal Server Error" in played.stderr) == (8, True), told(played)


def test_stop_says_the_step_that_lets_git_in(ready):
    """A stop that cannot push tells the person why and what helps, and ends with 0."""
    theatre, shim = ready
    assert theatre.hook("handoff", "--later", CLAUDECODE="1").status == 0
    theatre.stage.commit("more.txt", "more\n", "More")
    shim.refuse(https(f"The `acme' organization has enabled or enforced SAML SSO. Visit {SSO}"))
    played = theatre.hook("on-stop")
    assert (played.status, SSO in told(played)) == (0, True), told(played)
    assert "lease" not in told(played)


def test_repository_that_moved_is_said_once(ready):
    """A push that GitHub leads to a repository's new name works; the command that corrects the remote is said once."""
    theatre, shim = ready
    shim.remark(
        "remote: This repository moved. Please use the new location:\nremote:   https://github.com/acme/new.git\n"
    )
    played = theatre.stage.command("handoff")
    wanted = "git remote set-url origin https://github.com/acme/new.git"
    assert (played.status, told(played).count(wanted)) == (0, 1), told(played)
    theatre.stage.commit("more.txt", "more\n", "More")
    assert wanted not in told(theatre.stage.command("push")) + told(theatre.stage.command("sync"))


RECORDED = Path(os.environ.get("AGENT_SYNC_GITHUB_SCHEMAS", "/nowhere")) / "recorded" / "git-stderr"
# Exit codes of a handoff by how the names of the recordings begin; all others end with 1.
EXITS = {
    4: ("deploy-key", "password", "permission", "saml", "write-access"),
    8: ("http-500", "internal-server-error", "rpc-failed"),
}


@pytest.mark.skipif(not RECORDED.is_dir(), reason="AGENT_SYNC_GITHUB_SCHEMAS names no directory with recordings")
def test_recorded_refusals_end_as_they_should(ready):
    """Every text that git has printed of GitHub's refusals: its exit code, and never the refused command as advice."""
    theatre, shim = ready
    for file in sorted(RECORDED.glob("*.txt")):
        said = "".join(file.read_text().splitlines(keepends=True)[1:])
        row = re.search(r"^ ! (\[[^\]]+\]).*? -> \S+ (\(.*\))$", said, re.MULTILINE)
        shim.refuse(re.sub(r"^ ! .*\n", "", said, flags=re.MULTILINE), f"{row[1]} {row[2]}" if row else "")
        if file.stem == "moved-but-pushed":
            continue
        played = theatre.stage.command("handoff")
        wanted = next((code for code, names in EXITS.items() if file.stem.startswith(names)), 1)
        assert played.status == wanted, (file.stem, told(played))
        assert "git push" not in played.stderr.partition("try:")[2], (file.stem, played.stderr)
        assert len(played.stderr) < 1600, (file.stem, played.stderr)
