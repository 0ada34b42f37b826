"""The page on trying each phase by hand: its files are complete, and its commands do what it shows."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from support.command import COMMAND

from agent_sync.task.claim.model import Claim, parse
from agent_sync.task.claim.phases import Phase

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "phases-by-hand.md").read_text(encoding="utf-8")
FOLDER = ROOT / "tests" / "fixtures" / "phases"
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
DOCUMENTED = 11


def commands(blocks):
    """Return every command with what the page shows below it."""
    found = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.fixture
def local_github(monkeypatch):
    """Run the page's first command, at any free port, and return the port."""
    monkeypatch.setenv("PATH", f"{Path(COMMAND).parent}:{os.environ['PATH']}")
    ((serve, shown),) = commands(BLOCKS[:1])
    words = serve.replace("8042", "0").split()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        line = json.loads(process.stdout.readline())
        assert set(line) == set(json.loads(shown[0]))
        yield line["url"].rpartition(":")[2]
        process.send_signal(signal.SIGINT)


def test_one_complete_file_for_each_phase():
    """Every phase has a file with all documented fields and nothing else, all about the same issue."""
    files = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    assert set(files) == {phase.value for phase in Phase}
    for name, values in files.items():
        assert (values["phase"], values["issue_number"], len(values)) == (name, 42, DOCUMENTED)
        assert isinstance(parse(json.dumps(values).encode(), file=name), Claim)


def test_page_shows_what_happens(local_github, tmp_path):
    """Every command of the page, typed one after the other, prints what stands below it; repeated ones speak again."""
    typed = commands(BLOCKS[1:])
    script = "\n".join(f"{command}\necho '<<end>>'" for command, _ in typed)
    done = subprocess.run(
        ["bash", "-c", script.replace("8042", local_github)],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    printed = done.stdout.replace(local_github, "8042").split("<<end>>\n")[:-1]
    seen = list(zip([command for command, _ in typed], [text.splitlines() for text in printed], strict=True))
    # How many requests it takes may change; that it is shown may not.
    (_, counted), *_ = [row for row in seen if row[0].startswith("curl ")]
    assert counted[0].isdigit()
    assert [row for row in seen if not row[0].startswith("curl ")] == [
        row for row in typed if not row[0].startswith("curl ")
    ]
