"""Keeps the master key: made once, exclusively, refused where others could read it, and never made anew silently.

Files are made in the order master.key, master.key.bak, account.pub: the last one says that the others are complete.
"""

import contextlib
import os
import secrets
import shlex
import stat
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agent_sync.errors import BadKey
from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.record.disk.beginning import make_home
from agent_sync.record.disk.recorder import atlas_home
from agent_sync.record.receipts import ed25519
from agent_sync.system import disk, files

LENGTH = 32
# Purpose, coin type and account of BIP-44's scheme.
ACCOUNT = (44, 236, 0)


def receipt_path(task_index: int, receipt_index: int) -> str:
    """Return the path of the one key that signs this receipt of this task."""
    return ed25519.path_of((*ACCOUNT, task_index, receipt_index))


@dataclass(frozen=True)
class MasterKey:
    """The secret of one installation, never shown and never signed with itself."""

    seed: bytes = field(repr=False)

    @property
    def account_private(self) -> bytes:
        """The key that certifies the keys of receipts."""
        return ed25519.derive(self.seed, ed25519.path_of(ACCOUNT))

    @property
    def account_public(self) -> str:
        """What others know this installation by, in hex."""
        return ed25519.public_key(self.account_private).hex()

    def private_at(self, path: str) -> bytes:
        """Return the private key at the end of a path."""
        return ed25519.derive(self.seed, path)


_HEX = pattern(rb"[0-9a-fA-F]{64}\n?")
_OTHERS, _OTHERS_WRITE = 0o077, 0o022
_PATIENCE = 30.0


@dataclass(frozen=True)
class KeyFiles:
    """Where one installation's keys are."""

    directory: Path

    @property
    def master(self) -> Path:
        """The secret."""
        return self.directory / "master.key"

    @property
    def backup(self) -> Path:
        """Its copy, on the same disk."""
        return self.directory / "master.key.bak"

    @property
    def account(self) -> Path:
        """What receipts of this installation are recognised by."""
        return self.directory / "account.pub"


def key_files(environment: Mapping[str, str]) -> KeyFiles:
    """Return where the keys of this installation are; nothing is made or read."""
    return KeyFiles(atlas_home(environment) / "keys")


def obtain(environment: Mapping[str, str]) -> MasterKey:
    """Return the master key, made now if this installation never had one."""
    at = key_files(environment)
    try:
        key = _read_master(at)
        if key is None or not os.path.lexists(at.account):
            key = _make_missing(at)
        # Whoever made the last file may have been killed with a second name of it left.
        disk.sweep(at.account)
        _refuse_mismatch(at, key)
    except OSError as error:
        attempted = "looking for the key that signs receipts"
        raise BadKey(f"{error.filename or at.directory}: {error.strerror}.", attempted=attempted) from error
    return key


def trusted_account(environment: Mapping[str, str]) -> str | None:
    """Return the public account key recorded here, or None; never makes a key, never reads a secret."""
    path = key_files(environment).account
    content = _content(path)
    if content is None:
        return None
    if stat.S_IMODE(path.stat().st_mode) & _OTHERS_WRITE:
        raise BadKey(f"{path} can be written by others.", helps=_command("chmod", "600", path))
    return _unhex(path, content).hex()


def _make_missing(at: KeyFiles) -> MasterKey:
    """Make whatever is missing, one process at a time; what is there already stays."""
    make_home(at.directory.parent)
    at.directory.mkdir(mode=files.PRIVATE_DIRECTORY, exist_ok=True)
    _refuse_open_directory(at.directory)
    with files.locked(at.directory / ".lock", wait=_PATIENCE, doing="making the key that signs receipts") as token:
        files.sweep_temporaries(token, at.master)
        files.sweep_temporaries(token, at.account)
        key = _read_master(at)
        if key is None:
            _refuse_lost(at)
            _create(at.master, secrets.token_bytes(LENGTH).hex())
            key = _read_master(at)
        if key is None:
            raise BadKey(f"{at.master} was deleted while it was made.")
        _create(at.backup, key.seed.hex())
        with contextlib.suppress(ed25519.Unavailable):
            _create(at.account, key.account_public)
    return key


def _create(path: Path, text: str) -> None:
    """Make a file with its whole content at once and durably, unless it is there: a link replaces nothing."""
    temporary = disk.temporary_of(path)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, files.PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, files.PRIVATE)
            file.write(text.encode() + b"\n")
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    disk.sync_directory(path.parent)


def _read_master(at: KeyFiles) -> MasterKey | None:
    content = _content(at.master)
    if content is None:
        return None
    _refuse_open_directory(at.directory)
    mode = stat.S_IMODE(at.master.stat().st_mode)
    if mode & _OTHERS:
        raise BadKey(
            f"{at.master} can be used by others (mode {mode:04o}), so it proves nothing.",
            helps=_command("chmod", "600", at.master),
        )
    return MasterKey(_unhex(at.master, content))


def _content(path: Path) -> bytes | None:
    try:
        return files.read_own(path)
    except (files.NotPlain, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadKey(f"{path} cannot be used: {reason}.", helps=_command("ls", "-l", path)) from error


def _unhex(path: Path, content: bytes) -> bytes:
    if not _HEX.fullmatch(content):
        message = f"{path} does not hold {2 * LENGTH} hexadecimal digits and a line end; it has {len(content)} bytes."
        raise BadKey(message, helps=f"compare it with a backup: {_command('ls', '-l', path.parent)}")
    return bytes.fromhex(content.decode())


def _refuse_open_directory(directory: Path) -> None:
    found = directory.stat()
    if found.st_uid != os.geteuid():
        raise BadKey(f"{directory} belongs to user {found.st_uid}, not to you.", helps=_command("ls", "-ld", directory))
    if stat.S_IMODE(found.st_mode) & _OTHERS_WRITE:
        raise BadKey(f"{directory} can be written by others.", helps=_command("chmod", "700", directory))


def _refuse_lost(at: KeyFiles) -> None:
    """Stop where a key once was: a new one would make strangers of all receipts so far."""
    said = f"{at.master} is missing, and this installation once had it. No new key was made"
    if os.path.lexists(at.backup):
        raise BadKey(f"{said}; its backup is there.", helps=_command("cp", "-p", at.backup, at.master))
    if os.path.lexists(at.account):
        aside = at.directory.with_name("keys.old")
        helps = f"restore the file from a backup; or, to start over, {_command('mv', at.directory, aside)}"
        raise BadKey(f"{said}; {at.account.name} still names it.", helps=helps)


def _refuse_mismatch(at: KeyFiles, key: MasterKey) -> None:
    account = _content(at.account)
    if account is None:
        return
    with contextlib.suppress(ed25519.Unavailable):
        if _unhex(at.account, account).hex() != key.account_public:
            message = f"{at.account} and {at.master.name} do not belong together."
            raise BadKey(message, helps="restore the one that was replaced")


def _command(*words: str | Path) -> str:
    return shlex.join(str(word) for word in words)
