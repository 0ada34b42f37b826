"""Reads many files of commits at once, and none that is larger than it may be: its size is asked for first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_sync.errors import GitFailed
from agent_sync.system.git import Git


@dataclass(frozen=True)
class TooLarge:
    """A file that was not read."""

    size: int


Blob = bytes | TooLarge | None


def read_blobs(git: Git, names: Sequence[str], *, largest: int) -> list[Blob]:
    """Return what each name stands for, with two processes however many there are; None for what is no file."""
    if not names:
        return []
    sizes = [_size(line) for line in git.sizes(names).split(b"\n")[:-1]]
    if len(sizes) != len(names):
        raise GitFailed("git could not tell the sizes of all files.", attempted="reading refs of ours")
    wanted = [name for name, size in zip(names, sizes, strict=True) if size is not None and size <= largest]
    read = iter(_answers(git.contents(wanted)) if wanted else [])
    try:
        return [_blob(size, read, largest) for size in sizes]
    except (StopIteration, ValueError) as error:
        raise GitFailed("git could not read all files.", attempted="reading refs of ours") from error


def _blob(size: int | None, read: Iterator[bytes], largest: int) -> Blob:
    if size is None:
        return None
    return TooLarge(size) if size > largest else next(read)


def _size(line: bytes) -> int | None:
    """Return the size of a file; None for what is not there or is none."""
    words = line.split(b" ")
    return int(words[-1]) if words[-2:-1] == [b"blob"] else None


def _answers(batch: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(batch):
        line = batch.index(b"\n", at)
        size, at = int(batch[at:line].split(b" ")[-1]), line + 1
        yield batch[at : at + size]
        at += size + 1
