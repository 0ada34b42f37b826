"""The journal of a sweep: one line for each case that has ended, so that an interrupted run goes on where it was."""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prove.case import Ending, Verdict

# What decides how a case ends; a changed document does not.
SOURCES = ("agent_sync", "tests")


def tree_of(root: Path) -> str:
    """Return a name for the sources as they are now, committed or not."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    names = subprocess.run(listed, cwd=root, capture_output=True, check=True).stdout.split(b"\0")
    digest = hashlib.sha256()
    for path in sorted({root / os.fsdecode(name) for name in names if name}):
        if path.is_file():
            content = path.read_bytes()
            digest.update(b"%s\0%d\0%s" % (bytes(path.relative_to(root)), len(content), content))
    return digest.hexdigest()[:16]


@dataclass
class Journal:
    """What has ended so far for one tree; other trees' lines in the same file are left alone."""

    file: Path
    tree: str
    endings: dict[tuple[str, str], Ending] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def opened(cls, file: Path, tree: str) -> "Journal":
        """Read what an earlier run has left; a line that a kill has cut is passed over."""
        found = cls(file, tree)
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            try:
                values = json.loads(line)
            except ValueError:
                continue
            if values["tree"] == tree:
                found._take(values)
        return found

    def forget(self) -> None:
        """Begin again: take the lines of this tree out of the file."""
        lines = self.file.read_text(encoding="utf-8").splitlines(keepends=True) if self.file.exists() else []
        kept = "".join(line for line in lines if f'"tree": "{self.tree}"' not in line)
        if lines:
            self.file.write_text(kept, encoding="utf-8")
        self.endings.clear()
        self.names.clear()

    def note(self, family: str, case: str, ending: Ending, seconds: float) -> None:
        """Write how a case has ended."""
        values = {"verdict": ending.verdict, "said": ending.said, "tries": ending.tries, "seconds": round(seconds, 1)}
        self._append({"family": family, "case": case} | values)

    def list_cases(self, family: str, names: Sequence[str]) -> None:
        """Write which cases a family has, because counting them again might find others."""
        self._append({"family": family, "names": list(names)})

    def _append(self, values: dict[str, Any]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        values = {"tree": self.tree} | values
        with self.file.open("a+b") as file:
            # Behind a line that was cut, the next one begins on its own.
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                is_cut = file.read(1) != b"\n"
            else:
                is_cut = False
            file.write(b"\n" * is_cut + json.dumps(values).encode() + b"\n")
        self._take(values)

    def _take(self, values: dict[str, Any]) -> None:
        if "names" in values:
            self.names[values["family"]] = values["names"]
            return
        ending = Ending(Verdict(values["verdict"]), values["said"], values["tries"])
        self.endings[values["family"], values["case"]] = ending
