"""What reviewers read: the pull request's title and body, on the local GitHub with real commands."""

import json

import pytest

from agent_sync.system.git import Git
from agent_sync.system.git_history import pull_template
from agent_sync.system.processes import Processes

TEMPLATE = "## Description\n\n<!-- What does it do? -->\n\n## Risk\n\n- [ ] I have thought about it\n"


@pytest.fixture
def claimed(theatre):
    """Hold issue 42 with one commit on its branch."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Add a lock")
    return theatre


def body(theatre):
    """Return the body of the only pull request."""
    (pull,) = theatre.pulls()
    return pull["body"]


def configure(theatre, text):
    """Let the repository's settings end in these lines."""
    file = theatre.stage.root / ".agent-sync.toml"
    file.write_text((file.read_text() if file.exists() else "") + text)
    theatre.git("add", "-A")
    theatre.git("commit", "-q", "-m", "Set agent-sync up")


def test_plain_body(claimed):
    """Without template and settings: summary, commits, the issue; no box that nobody asked for, in two requests.

    A summary is cut at the same length whether it comes by option or by stdin, and that is said.
    """
    for arguments, stdin in ((["x" * 30_000], ""), (["-"], "x" * 30_000)):
        played = claimed.stage.command("handoff", "--dry-run", "--summary", *arguments, stdin=stdin)
        assert (played.status, "was cut at 20000 characters" in played.stderr) == (0, True), played.stderr
    claimed.stage.commit("more.txt", "more\n", "Test the lock")
    claimed.stage.command("handoff", "--later", "--summary", "Fix the race")
    played = claimed.hook("on-stop")
    text = body(claimed)
    assert (played.requests, "[ ]" in text, "## Receipts" in text) == (2, False, False)
    assert text.startswith("## Summary\n\nFix the race\n\n## Commits\n\n- ")
    assert [line[15:] for line in text.splitlines() if line.startswith("- ")] == ["Add a lock", "Test the lock"]
    assert "\n\nRefs #42\n\n" in text


TEMPLATES = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "docs/pull_request_template.txt",
    ".github/PULL_REQUEST_TEMPLATE/only.md",
)


def test_template_is_filled_in(theatre):
    """The template of the base branch is filled in, wherever GitHub would find it; the issue follows it."""
    root = theatre.stage.root
    for path in TEMPLATES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        theatre.stage.commit(path, TEMPLATE, "Add a template")
        git = Git(str(root), Processes(), theatre.stage.environment)
        assert pull_template(git, theatre.git("rev-parse", "HEAD")) == TEMPLATE, path
        if path != TEMPLATES[-1]:
            theatre.git("rm", "-q", path)
    theatre.git("push", "-q", "origin", "main")
    theatre.stage.command("claim", "42")
    theatre.stage.commit(path, "Changed on the branch.\n", "Change the template")
    theatre.stage.command("handoff", "--summary", "Fix the race")
    text = body(theatre)
    assert text.startswith("## Description\n\nFix the race\n\n- ")
    assert "<!-- What does it do? -->\n\n## Risk\n\n- [ ] I have thought about it\n\nRefs #42\n\n" in text


def test_boxes_by_setting_and_summary_by_commit(claimed):
    """One word gives the five boxes; a list, as in 0.1.0, gives one's own.

    Without a summary the first commit's subject becomes the title.
    """
    configure(claimed, '[pr]\nchecklist = "mission-integrity"\ntest_plan = ["Tests pass"]\n')
    played = claimed.stage.command("handoff")
    assert (played.status, claimed.pulls()[0]["title"]) == (0, "Add a lock"), played.stderr
    assert body(claimed).count("- [ ] ") == 6
    assert "## Mission integrity" in body(claimed)


def test_long_summary_is_cut(claimed):
    """A summary beyond GitHub's limit still becomes a pull request, with a note that it was cut."""
    claimed.edit_claim(phase="ready_for_pr", summary="x" * 90_000)
    claimed.hook("on-stop")
    assert (len(body(claimed)) <= 65_536, len(claimed.pulls()[0]["title"])) == (True, 256)
    assert "The rest was cut" in body(claimed)


def test_settings_of_a_branch_close_no_issue(claimed):
    """A line of the checklist or the test plan that says it closes an issue closes none when the work is merged."""
    lines = ["Closes #40", "fixes: octo/demo#41 `and` resolves octo/demo#43"]
    configure(claimed, f"[pr]\nchecklist = {json.dumps(lines)}\ntest_plan = {json.dumps(lines)}\n")
    assert claimed.stage.command("handoff").status == 0
    text = body(claimed)
    assert "- [ ] Closes `#40`" in text
    claimed.stage.act("merge_pull", pull=45, method="merge")
    assert [claimed.issue(number)["state"] for number in (40, 41, 43)] == ["open"] * 3
