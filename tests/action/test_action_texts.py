"""What the GitHub Action writes, as values: lanes, limits, hostile text, the section of an issue, the inputs."""

from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from agent_sync.action.inputs import inputs_of
from agent_sync.action.markdown import fleet_text, repairs_text
from agent_sync.action.pinned_issue import BEGIN, END, keep_issue, with_section
from agent_sync.errors import BadInput
from agent_sync.fleet.view import FleetPull, FleetTask, FleetView, Lane

ADDRESS = "https://github.com/octo/demo"
NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
RUNNER = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "octo/demo", "GITHUB_STEP_SUMMARY": "/s"}
HOSTILE = [
    "`` ` ``` @octo/team #1 https://evil.example",
    "<!-- hidden",
    "</details><script>alert(1)</script>",
    "![x](https://evil.example/pixel) [a](javascript:1)",
    "| a | b |\n|---|---|\n# heading",
    "\\` \\",
    "\u202etxet\u0000",
    "`",
    "",
]


def task(issue: int, lane: Lane = Lane.WORKING, **fields) -> FleetTask:
    """Return a task of a fleet."""
    values = {"title": "Fix it", "reason": "is coding", "since": NOW, "next_command": f"agent-sync explain {issue}"}
    return FleetTask("octo/demo", issue, situation=None, lane=lane, **values | fields)


def test_every_lane_is_shown_with_its_count():
    """All four lanes appear, also the empty ones, and a task has links to its issue and its pull request."""
    view = FleetView("octo/demo", (task(42, Lane.NEEDS_YOU, pull=FleetPull(45), ci="passed"), task(43)), NOW)
    text = fleet_text(view, ADDRESS, largest=100_000)
    assert [line for line in text.splitlines() if line.startswith("###")] == [
        "### Needs you (1)", "### Working (1)", "### Waiting (0)", "### Ready (0)",
    ]  # fmt: skip
    assert f"[#42]({ADDRESS}/issues/42) `Fix it`: `is coding` · PR [#45]({ADDRESS}/pull/45) · CI `passed`" in text
    assert "since 2026-01-02 03:04 UTC · `agent-sync explain 42`" in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_of_others_is_only_ever_code(hostile):
    """Rendered, whatever others wrote is inside code: no tag, image, mention, heading or link of theirs."""
    fields = dict.fromkeys(("title", "reason", "agent", "ci", "next_command"), hostile)
    view = FleetView("octo/demo", (task(42, **fields),), NOW, stale_reason=hostile, board_note=hostile)
    found = {"issue": 42, "says": hostile, "outcome": hostile}
    values = {"claims": 1, "dry_run": False, "requests": 2, "reason": hostile, "differences": [found]}
    for text in (fleet_text(view, ADDRESS, largest=100_000), repairs_text(values, ADDRESS)):
        tokens = [inner for token in MarkdownIt().parse(text) for inner in (token, *(token.children or ()))]
        kinds = {token.type for token in tokens}
        assert not kinds & {"html_inline", "html_block", "image", "table_open", "fence", "code_block"}
        assert {token.attrs["href"] for token in tokens if token.type == "link_open"} == {f"{ADDRESS}/issues/42"}
        said = "".join(token.content for token in tokens if token.type == "text")
        assert not {"@", "<", "#1", "evil"} & {word for word in ("@", "<", "#1", "evil") if word in said}


def test_what_is_too_long_is_cut_and_said():
    """A summary stays below its limit; the counts stay true, and each lane says how many tasks it leaves out."""
    many = tuple(task(number, title="ä" * 100) for number in range(1, 3001))
    text = fleet_text(FleetView("octo/demo", (*many, task(4000, Lane.READY)), NOW), ADDRESS, largest=60_000)
    assert len(text.encode()) < 60_000
    assert "### Working (3000)" in text
    assert "### Ready (1)" in text
    shown = text.count("/issues/") - 1
    assert f"… and {3000 - shown} more, left out for GitHub's limit" in text


class OneIssue:
    """An issue that counts how often it is written."""

    def __init__(self, text: str) -> None:
        self.text, self.writes = text, 0

    def issue_text(self, issue: int) -> str:  # noqa: ARG002
        """Return the text as GitHub does, which ends lines in its own way."""
        return self.text.replace("\n", "\r\n")

    def write_issue_text(self, issue: int, text: str) -> None:  # noqa: ARG002
        """Note it."""
        self.text, self.writes = text, self.writes + 1


def test_only_the_section_of_an_issue_is_replaced():
    """What people wrote before and after it stays; the same text is not written twice."""
    first = with_section("Ours.\n", "one")
    assert first == f"Ours.\n\n{BEGIN}\n\none\n\n{END}"
    assert with_section(f"{first}\nTheirs.", "two") == f"Ours.\n\n{BEGIN}\n\ntwo\n\n{END}\nTheirs."
    assert with_section("", "one") == f"{BEGIN}\n\none\n\n{END}"
    hostile = with_section("Ours.\n", f"`{BEGIN} {END} {END}`")
    assert with_section(hostile, "one") == first
    issue = OneIssue("Ours.")
    assert [keep_issue(issue, 1, text) for text in ("one", "one", "two")] == [True, False, True]
    assert issue.writes == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ACTION_DRY_RUN", "yes"), ("ACTION_SUMMARY", "1"), ("ACTION_PINNED_ISSUE", "0"), ("ACTION_PINNED_ISSUE", "-1"),
        ("ACTION_PINNED_ISSUE", "4 2"), ("GITHUB_REPOSITORY", "../demo"), ("GITHUB_REPOSITORY", "a/b/c"),
        ("GITHUB_SERVER_URL", "https://x@github.com"), ("GITHUB_SERVER_URL", "file:///tmp"),
    ],
)  # fmt: skip
def test_inputs_are_checked(name, value):
    """What is no input of ours is refused, never guessed."""
    with pytest.raises(BadInput):
        inputs_of(RUNNER | {name: value})


def test_inputs_have_defaults():
    """Empty inputs mean: write, show the summary, keep no issue."""
    found = inputs_of(RUNNER | {"ACTION_DRY_RUN": "", "ACTION_PINNED_ISSUE": "", "ACTION_SUMMARY": ""})
    assert (found.is_dry_run, found.pinned_issue, found.summary_file) == (False, None, "/s")
    chosen = inputs_of(RUNNER | {"ACTION_DRY_RUN": "true", "ACTION_PINNED_ISSUE": "#7", "ACTION_SUMMARY": "false"})
    assert (chosen.is_dry_run, chosen.pinned_issue, chosen.summary_file) == (True, 7, "")
