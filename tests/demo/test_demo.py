"""The demo as a stranger runs it: the real command, its words, its links, and what it leaves behind."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.command import COMMAND, run

from agent_sync.demo.ending import LOOK_INTO_IT, OWN_REPOSITORY
from agent_sync.demo.story import Actor, story

PICTURE = Path(__file__).parent.parent.parent / "docs" / "demo.svg"
# What only people who know the inside would understand.
INSIDE = re.compile(r"[a-z]+_[a-z]+|\w+:\.:|\bstamp\b|[Ss]ignal file|\bblock:|\bapprove:|\b1 \w+s\b|requests?,|\d ms\b")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Give the demo a directory of its own for temporary files."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


def test_demo_tells_who_acts_draws_its_picture_serves_its_pages_and_leaves_nothing(tmp_path, temporary):
    """The whole story is played and told in plain words; docs/demo.svg is the picture that it draws today.

    With --serve every link that was printed opens until the demo is stopped, and after the stop nothing is left.
    """
    with (tmp_path / "stderr").open("w") as stderr, subprocess.Popen(
        [COMMAND, "demo", "--fast", "--picture", "demo.svg", "--serve", "--costs"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=stderr, text=True,
    ) as demo:  # fmt: skip
        try:
            printed = _until_served(demo.stdout)
            links = set(re.findall(r"http://\S+", printed))
            pages = {urlsplit(link).path: _page(link) for link in links}
            demo.send_signal(signal.SIGTERM)
            assert demo.wait(60) == 0
        finally:
            demo.kill()
    assert (tmp_path / "stderr").read_text() == ""
    costs = re.findall(r"^ +\(agent-sync .*\)\n", printed, re.MULTILINE)
    said = re.sub(r"^ +\(agent-sync .*\)\n", "", printed.partition("\nDone in")[0], flags=re.MULTILINE)
    assert [line.split()[0] for line in said.splitlines() if not line.startswith(" ")] == [
        scene.actor for scene in story()
    ]
    assert INSIDE.findall(re.sub(r"http://\S+", "", said)) == []
    assert OWN_REPOSITORY in printed
    assert (tmp_path / "demo.svg").read_text() == PICTURE.read_text(), "draw docs/demo.svg again"
    assert set(pages) == {"/", "/octo/demo/pull/45", "/octo/demo/issues/42", "/users/octo/projects/1"}
    assert "Merged" in pages["/octo/demo/pull/45"]
    assert "Closed as completed" in pages["/octo/demo/issues/42"]
    assert [line for line in costs if "(agent-sync claim 42: 2 requests, " in line]
    assert [line for line in costs if " 1 request, " in line]
    assert list(temporary.iterdir()) == []


# The command line with the first scene of the story only: how it ends does not depend on how many there are.
BEGINNING = """
from agent_sync.demo import story
scenes = list(story.story())[:1]
story.story, story.check_end = lambda: scenes, lambda _: "begun"
from agent_sync.__main__ import main
main()
"""


def test_demo_ends_by_itself_and_leaves_nothing(tmp_path, temporary):
    """Without --serve nobody needs to stop it; without --costs nothing is said of requests."""
    played = subprocess.run(
        [sys.executable, "-c", BEGINNING, "demo", "--fast"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (played.returncode, played.stderr) == (0, "")
    said, _, end = played.stdout.partition("\nDone in")
    assert "tells a new session" in said
    assert INSIDE.findall(re.sub(r"http://\S+", "", said)) == []
    assert end.endswith(f"\n{OWN_REPOSITORY}\n\n{LOOK_INTO_IT}\n")
    assert list(temporary.iterdir()) == []


def _page(link):
    """Open a link as a browser does; anything but success raises."""
    request = urllib.request.Request(link, headers={"accept": "text/html"})  # noqa: S310 - loopback, as printed
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - see above
        return answer.read().decode()


def _until_served(lines):
    """Return what the demo prints up to its last line."""
    said = []
    for line in lines:
        said.append(line)
        if line.startswith("  clone"):
            return "".join(said)
    pytest.fail("".join(said))


def test_a_picture_needs_a_directory(tmp_path):
    """Where no picture can be written, the demo says so before it plays."""
    ran = run("demo", "--picture", "nowhere/demo.svg", cwd=tmp_path)
    assert (ran.status, ran.stdout) == (2, "")
    assert "there is no directory nowhere" in ran.stderr


def test_words_of_the_story_are_plain_and_short():
    """Nothing of the inside shows in the story, and each text fits its column of the picture."""
    for scene in story():
        assert not INSIDE.search(f"{scene.does} {scene.outcome}")
        assert (len(scene.does) <= 44, len(scene.outcome) <= 54) == (True, True)
    assert {scene.actor for scene in story()} == set(Actor)
