"""Several processes that change one shared file at the same moment: nothing that one of them wrote is lost."""

import json
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

from support.clients import Client, shared_nursery

from agent_sync.settings import Settings, variables
from agent_sync.worktree import noted_roots, worktree

SESSION = "1f0c7a52-2f5e-4f0e-9d0f-3a1b2c3d4e5f"
AT_ONCE, EACH = 6, 3
NOTES = """
import sys, time
from agent_sync.task.session_notes import note_session
from agent_sync.worktree import worktree
session, begins, *roots = sys.argv[1:]
place = worktree(".")
time.sleep(max(0, float(begins) - time.time()))
for root in roots:
    assert note_session(place, root, {"CLAUDE_CODE_SESSION_ID": session})
"""


def at_once(*commands):
    """Run commands at the same moment, each in its directory and as a process of its own; return how they ended."""

    def play(client, command):
        return client.do(*command[1:])

    with ExitStack() as stack, ThreadPoolExecutor(len(commands)) as pool:
        clients = [stack.enter_context(closing(Client(shared_nursery(), root))) for root, *_ in commands]
        return list(pool.map(play, clients, commands))


def test_session_remembers_every_worktree_it_claims_in(repo):
    """Claims at the same moment are all noted for their session; with more than are kept, the newest stay."""
    place = worktree(str(repo))
    begins = str(time.time() + 2)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", NOTES, SESSION, begins, *(f"/{one}-{n}" for n in range(EACH))], cwd=repo
        )
        for one in range(AT_ONCE)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * AT_ONCE
    assert sorted(noted_roots(place, SESSION)) == sorted(f"/{one}-{n}" for one in range(AT_ONCE) for n in range(EACH))
    more = [sys.executable, "-c", NOTES, SESSION, "0", *(f"/later-{n}" for n in range(EACH))]
    subprocess.run(more, cwd=repo, check=True)
    assert noted_roots(place, SESSION)[-EACH:] == [f"/later-{n}" for n in range(EACH)]


def test_settings_set_at_once_all_arrive(repo, own_home):
    """Thirty `config set` of different keys at the same moment are all in the file: the repository's and the user's."""
    known = {f"{table}.{key}": getattr(getattr(Settings(), table), key) for table, key in variables().values()}
    wanted = [(key, json.dumps(value)) for key, value in known.items() if isinstance(value, bool | int | float)][:30]
    user_file = own_home / ".config" / "agent-sync" / "config.toml"
    for option, file in ((), repo / ".agent-sync.toml"), (("--user",), user_file):
        ended = at_once(*((repo, "config", "set", *option, key, value) for key, value in wanted))
        assert [one.stderr for one in ended if one.status] == []
        arrived = tomllib.loads(file.read_text())
        assert [key for key, _ in wanted if key.split(".")[1] not in arrived.get(key.split(".")[0], {})] == []


def test_init_records_what_it_wrote_in_every_worktree(repo):
    """`init` in several worktrees at the same moment records what it wrote in each, by which `uninstall` goes."""
    roots = [repo.parent / f"tree-{one}" for one in range(AT_ONCE)]
    for root in roots:
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(root)], cwd=repo, check=True)
        (root / ".gitignore").write_text(f"build-{root.name}")
    ended = at_once(*((root, "init", "--yes") for root in roots))
    assert [one.stderr for one in ended if one.status] == []
    entries = json.loads((repo / ".git" / "agentsync" / "install.json").read_text())["files"]
    assert len([entry for entry in entries if entry["path"] == ".gitignore"]) == AT_ONCE
