import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.receipts import receipt

from agent_sync.errors import BadConfig, BadKey
from agent_sync.record.receipts import keys
from agent_sync.record.receipts.signing import Valid, verify

HEX = "5e" * 32
IS_ROOT = os.geteuid() == 0


@pytest.fixture
def environment(tmp_path):
    """Give a home without keys."""
    return {"HOME": str(tmp_path)}


@pytest.fixture
def at(environment):
    """Say where the keys of that home are."""
    return keys.key_files(environment)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def tree(root):
    """Return everything below a directory, with its content."""
    return {path: path.read_bytes() if path.is_file() else None for path in Path(root).rglob("*")}


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o077])
def test_key_is_made_once(environment, at, umask):
    """The first use makes a key with its copy and its public half; every other use finds the same."""
    before = os.umask(umask)
    try:
        made = keys.obtain(environment)
    finally:
        os.umask(before)
    assert at.master.read_text() == at.backup.read_text() == made.seed.hex() + "\n"
    assert at.account.read_text() == made.account_public + "\n"
    assert (mode(at.directory), mode(at.master), mode(at.backup), mode(at.account)) == (0o700, 0o600, 0o600, 0o600)
    written = tree(environment["HOME"])
    assert keys.obtain(environment) == made
    assert tree(environment["HOME"]) == written
    assert sorted(path.name for path in at.directory.iterdir()) == [
        ".lock", "account.pub", "master.key", "master.key.bak",
    ]  # fmt: skip


def test_keys_differ(tmp_path):
    """Two installations have different keys."""
    made = {keys.obtain({"HOME": str(tmp_path / name)}).seed for name in "abc"}
    assert len(made) == 3
    assert all(len(seed) == 32 for seed in made)


HOMES = {
    "home": ({"HOME": "/h"}, "/h/.atlas/keys/master.key"),
    "moved": ({"HOME": "/h", "ATLAS_HOME": "/data/atlas"}, "/data/atlas/keys/master.key"),
    "moved, without a home": ({"ATLAS_HOME": "/data"}, "/data/keys/master.key"),
    "empty": ({"HOME": "/h", "ATLAS_HOME": ""}, "/h/.atlas/keys/master.key"),
    "with a tilde": ({"HOME": "/h", "ATLAS_HOME": "~/x"}, "/h/x/keys/master.key"),
}


@pytest.mark.parametrize(("variables", "path"), HOMES.values(), ids=HOMES)
def test_where_keys_are(variables, path):
    """Keys are below ~/.atlas, or where ATLAS_HOME says."""
    assert str(keys.key_files(variables).master) == path


@pytest.mark.parametrize("variables", [{}, {"HOME": "/h", "ATLAS_HOME": "relative"}], ids=["none", "relative"])
def test_no_place_for_keys(variables):
    """Without a sure place no key is made anywhere."""
    with pytest.raises(BadConfig, match="HOME"):
        keys.obtain(variables)


def linked(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def dangling(path):
    path.unlink()
    path.symlink_to("nowhere")


def replaced_by_directory(path):
    path.unlink()
    path.mkdir()


def replaced_by_pipe(path):
    path.unlink()
    os.mkfifo(path, 0o600)


SPOILED = {
    "readable by the group": (lambda at: at.master.chmod(0o640), "used by others .mode 0640.", "chmod 600"),
    "readable by all": (lambda at: at.master.chmod(0o604), "used by others", "chmod 600"),
    "writable by the group": (lambda at: at.master.chmod(0o620), "used by others", "chmod 600"),
    "directory writable by others": (lambda at: at.directory.chmod(0o777), "written by others", "chmod 700"),
    "symbolic link": (lambda at: linked(at.master), "symbolic link", "ls -l"),
    "link to nowhere": (lambda at: dangling(at.master), "symbolic link", "ls -l"),
    "directory": (lambda at: replaced_by_directory(at.master), "not a plain file", "ls -l"),
    "pipe": (lambda at: replaced_by_pipe(at.master), "not a plain file", "ls -l"),
    "empty": (lambda at: at.master.write_bytes(b""), "it has 0 bytes", "backup"),
    "truncated": (lambda at: at.master.write_text(HEX[:40]), "it has 40 bytes", "backup"),
    "one digit less": (lambda at: at.master.write_text(HEX[:-1] + "\n"), "it has 64 bytes", "backup"),
    "64 bytes of another format": (lambda at: at.master.write_text(HEX * 2 + "\n"), "it has 129 bytes", "backup"),
    "raw bytes": (lambda at: at.master.write_bytes(bytes(32)), "it has 32 bytes", "backup"),
    "zeroed by a crash": (lambda at: at.master.write_bytes(bytes(65)), "hexadecimal", "backup"),
    "two lines": (lambda at: at.master.write_text(HEX + "\n\n"), "hexadecimal", "backup"),
    "huge": (lambda at: at.master.write_bytes(b"0" * (2 << 20)), "larger than", "ls -l"),
    "another key": (lambda at: at.master.write_text(HEX + "\n"), "do not belong together", "restore"),
    "another account": (lambda at: at.account.write_text(HEX + "\n"), "do not belong together", "restore"),
    "lost, with backup": (lambda at: at.master.unlink(), "its backup is there", "cp -p"),
    "lost, with public half": (
        lambda at: (at.master.unlink(), at.backup.unlink()),
        "account.pub still names it",
        "restore",
    ),
    "lost, backup alone left": (lambda at: (at.master.unlink(), at.account.unlink()), "its backup is there", "cp -p"),
}


@pytest.mark.parametrize(("spoil", "said", "helps"), SPOILED.values(), ids=SPOILED)
def test_keys_that_are_refused(environment, at, spoil, said, helps):
    """A key that others can use, or that is not what it should be, is refused; nothing is replaced or made."""
    keys.obtain(environment)
    spoil(at)
    found = {path: path.lstat().st_mode for path in at.directory.iterdir()}
    with pytest.raises(BadKey, match=said) as caught:
        keys.obtain(environment)
    assert helps in caught.value.helps
    assert {path: path.lstat().st_mode for path in at.directory.iterdir()} == found


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["master", "directory", "account"])
def test_keys_of_someone_else(environment, at, name):
    """A key, or a directory of keys, that belongs to another user is refused."""
    keys.obtain(environment)
    os.chown(getattr(at, name), 12345, -1)
    with pytest.raises(BadKey, match="belongs to user 12345"):
        keys.obtain(environment)


def test_restoring_as_told(environment, at):
    """The command that the error names brings the same key back."""
    made = keys.obtain(environment)
    at.master.unlink()
    with pytest.raises(BadKey) as caught:
        keys.obtain(environment)
    subprocess.run(shlex.split(caught.value.helps), check=True)
    assert keys.obtain(environment) == made


def test_line_end_may_be_missing(environment, at):
    """A key restored by hand, without its line end, is still the key."""
    made = keys.obtain(environment)
    at.master.write_text(made.seed.hex())
    assert keys.obtain(environment) == made


LEFT_BY_A_CRASH = {"after the key": ("backup", "account"), "after the backup": ("account",)}


@pytest.mark.parametrize("missing", LEFT_BY_A_CRASH.values(), ids=LEFT_BY_A_CRASH)
def test_interrupted_creation_is_completed(environment, at, missing):
    """A key whose making was interrupted is kept and completed, and what was left over is swept."""
    made = keys.obtain(environment)
    for name in missing:
        getattr(at, name).unlink()
    at.directory.joinpath("master.key.1.tmp").write_text("")
    assert keys.obtain(environment) == made
    assert (at.backup.read_text(), at.account.read_text()) == (made.seed.hex() + "\n", made.account_public + "\n")
    assert list(at.directory.glob("*.tmp")) == []


def test_second_name_of_a_killed_maker_goes(environment, at):
    """Killed between giving the last file its name and taking the temporary one away: the next use does that."""
    keys.obtain(environment)
    at.account.with_name("account.pub.999999999.tmp").hardlink_to(at.account)
    keys.obtain(environment)
    assert list(at.directory.glob("*.tmp")) == []


def test_backup_moved_away_stays_away(environment, at):
    """A person who keeps the backup elsewhere does not find a new one here."""
    keys.obtain(environment)
    at.backup.unlink()
    keys.obtain(environment)
    assert not at.backup.exists()


CREATOR = """
import sys
from agent_sync.record.receipts import keys
sys.stdin.readline()
print(keys.obtain({"HOME": sys.argv[1]}).seed.hex())
"""


def test_eight_processes_make_one_key(tmp_path, at):
    """Processes that need a key at the same moment all get the one that was made."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CREATOR, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in started]
    assert [process.returncode for process in started] == [0] * 8
    assert set(said) == {at.master.read_text()} == {at.backup.read_text()}
    assert list(at.directory.glob("*.tmp")) == []


def test_verification_makes_no_key(environment, tmp_path):
    """A machine without any key can check a receipt, learns that the signer is unknown, and keeps nothing."""
    assert keys.trusted_account(environment) is None
    assert verify(receipt(), trusted_account=None) == Valid(passed=True, is_ours=False)
    assert list(tmp_path.iterdir()) == []


def test_verification_needs_no_secret(environment, at):
    """With the public half alone a receipt is still known as ours."""
    made = keys.obtain(environment)
    at.master.unlink()
    at.backup.unlink()
    trusted = keys.trusted_account(environment)
    assert trusted == made.account_public
    assert verify(receipt(master=made), trusted_account=trusted) == Valid(passed=True, is_ours=True)


ACCOUNTS = {
    "no key": (lambda path: path.write_text("hello\n"), "hexadecimal"),
    "link": (linked, "symbolic link"),
    "writable by others": (lambda path: path.chmod(0o666), "written by others"),
}


@pytest.mark.parametrize(("spoil", "said"), ACCOUNTS.values(), ids=ACCOUNTS)
def test_recorded_account_is_checked(environment, at, spoil, said):
    """A public half that others may have written vouches for nobody, and is not taken for a missing one."""
    keys.obtain(environment)
    spoil(at.account)
    with pytest.raises(BadKey, match=said) as caught:
        keys.trusted_account(environment)
    assert caught.value.exit_status == 6


def test_no_room_for_a_key(environment, tmp_path):
    """Where no directory can be made the error names the place."""
    (tmp_path / ".atlas").write_text("a file in the way")
    with pytest.raises(BadKey, match=r"\.atlas"):
        keys.obtain(environment)
