"""The demo as a stranger runs it: the real command, its words, its links, and what it leaves behind."""

import re
import signal
import subprocess
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.command import COMMAND, run

from agent_sync.demo.ending import OWN_REPOSITORY
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


def test_demo_tells_who_acts_draws_its_picture_and_leaves_nothing(tmp_path, temporary):
    """The whole story is played and told in plain words; docs/demo.svg is the picture that it draws today."""
    played = subprocess.run(
        [COMMAND, "demo", "--fast", "--picture", "demo.svg"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (played.returncode, played.stderr) == (0, "")
    said = played.stdout.partition("\nDone in")[0]
    assert [line.split()[0] for line in said.splitlines() if not line.startswith(" ")] == [
        scene.actor for scene in story()
    ]
    assert INSIDE.findall(re.sub(r"http://\S+", "", said)) == []
    assert OWN_REPOSITORY in played.stdout
    assert (tmp_path / "demo.svg").read_text() == PICTURE.read_text(), "draw docs/demo.svg again"
    assert list(temporary.iterdir()) == []


def test_demo_serves_its_pages_until_it_is_stopped(tmp_path, temporary):
    """With --serve every link that was printed opens, and after the stop nothing is left."""
    with subprocess.Popen(
        [COMMAND, "demo", "--fast", "--serve", "--costs"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as demo:
        try:
            said = _until_served(demo.stdout)
            links = set(re.findall(r"http://\S+", said))
            pages = {urlsplit(link).path: _page(link) for link in links}
            demo.send_signal(signal.SIGTERM)
            assert demo.wait(60) == 0
        finally:
            demo.kill()
    assert set(pages) == {"/", "/octo/demo/pull/45", "/octo/demo/issues/42", "/users/octo/projects/1"}
    assert "Merged" in pages["/octo/demo/pull/45"]
    assert "Closed as completed" in pages["/octo/demo/issues/42"]
    assert "(agent-sync claim 42: 2 requests, " in said
    assert "1 request, " in said
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
