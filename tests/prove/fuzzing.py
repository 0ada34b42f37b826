"""The family that lets everything we read meet ten thousand contents that nobody's program would write."""

import functools
import tempfile
from pathlib import Path

from support.clients import Nursery
from support.readers import READERS

from prove.case import Case, Ending, Family, Verdict

CONTENTS, PORTIONS = 10_000, 20


def _met(_nursery: Nursery, reader: str, portion: int) -> Ending:
    count = CONTENTS // PORTIONS
    with tempfile.TemporaryDirectory(prefix="prove-fuzz-") as directory:
        try:
            READERS[reader](Path(directory)).try_out(portion, count)
        except Exception as error:  # noqa: BLE001  # any error that is not ours is what is looked for
            notes = " ".join(getattr(error, "__notes__", ()))
            return Ending(Verdict.LOST, f"{type(error).__name__}: {error} {notes}"[:1000], count)
    return Ending(Verdict.SURVIVED, tries=count)


def _case(name: str) -> Case:
    reader, portion = name.split("/")
    return Case(name, functools.partial(_met, reader=reader, portion=int(portion)), 10.0)


FUZZ = Family(
    "fuzz",
    "each thing we read meets 10,000 contents of any kind",
    lambda _: [f"{reader}/{portion}" for reader in READERS for portion in range(PORTIONS)],
    _case,
)
