"""Plays the console blocks of a page in a fresh home and a local GitHub, and compares or writes what they print.

A page whose first lines hold `<!-- played -->` is one session: its blocks run from top to bottom in one shell.
`python docs/play.py PAGE...` writes what the commands really print into the pages; tests/docs compares.
"""

import getpass
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

DOCS = Path(__file__).resolve().parent
MARK = "<!-- played -->"
# What the pages show for the port, the directory and the person of a session.
PORT = "8042"
HOME = "/home/you"
LONGEST_S = 120
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "end-of-command"
_PERSON = {"NAME": "You", "EMAIL": "you@example.invalid"}
_HOST = f"@{socket.gethostname()}"
_PERSON_HERE = f"{getpass.getuser()}{_HOST}"
# What differs from run to run, and what stands for it in a comparison.
VARYING = (
    (re.compile(r"\b(octo|mona)-\d{9,11}\b"), r"\1-TIME"),
    (re.compile(r"\b(ckpt|rcpt|evt)-[0-9a-f]{3,}\b"), r"\1-ID"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "HASH"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?"), "MOMENT"),
    (re.compile(r"\b\d\d:\d\d(:\d\d)?\b"), "CLOCK"),
    (re.compile(r"\b(\d+(\.\d+)? ?(ms|s|min|h)|just now|less than a minute|a moment)( ago)?(?=\W|$)"), "SPAN"),
    (re.compile(r"\bpid\W+\d+"), "PID"),
    (re.compile(r"\bprocess \d+"), "process PID"),
    (re.compile(r"\bdemo-[0-9a-f]{6}\b"), "demo-ID"),
    (re.compile(r'"id":"[^"]*"'), '"id":ID'),
)


@dataclass(frozen=True)
class Command:
    """One command of a block, as it is typed, and what the page says it prints."""

    typed: str
    shown: str


def blocks(text: str) -> list[tuple[Command, ...]]:
    """Return the console blocks of a page; a line that ends with a backslash continues on the next."""
    return [tuple(_commands(found.group(1))) for found in _BLOCK.finditer(text)]


def _commands(block: str) -> list[Command]:
    found: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif found and found[-1].typed.endswith("\\") and not found[-1].shown:
            found[-1] = Command(f"{found[-1].typed}\n{line}", "")
        elif found:
            found[-1] = Command(found[-1].typed, f"{found[-1].shown}{line}\n")
    return found


def comparable(text: str) -> str:
    """Return a text without what differs from run to run."""
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Session:
    """One shell with a home of its own; what it started ends with it."""

    def __init__(self, directory: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            self.port = str(unused.getsockname()[1])
        self.home = directory / "home"
        self.home.mkdir()
        self.shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.home,
            env=_environment(self.home),
            start_new_session=True,
        )
        # Both are pipes, as asked for above.
        self.keyboard, self.screen = cast("IO[str]", self.shell.stdin), cast("IO[str]", self.shell.stdout)

    def run(self, command: Command) -> str:
        """Type a command; return what it printed, with the page's own port and home."""
        typed = command.typed.replace(PORT, self.port)
        self.keyboard.write(f"{typed}\necho {_END}\n")
        self.keyboard.flush()
        printed = self._printed()
        if typed.rstrip().endswith("&"):
            self._wait_for_server()
        for here, shown in (
            (self.port, PORT),
            (str(self.home), HOME),
            (_PERSON_HERE, "you@laptop"),
            (_HOST, "@laptop"),
        ):
            printed = printed.replace(here, shown)
        return printed

    def _printed(self) -> str:
        lines = []
        for line in self.screen:
            if line.rstrip("\n").endswith(_END):
                return "".join([*lines, line.rstrip("\n").removesuffix(_END)])
            lines.append(line)
        raise SystemExit(f"the shell ended after: {''.join(lines)}")

    def _wait_for_server(self) -> None:
        limit = time.monotonic() + LONGEST_S
        while time.monotonic() < limit:
            with socket.socket() as line:
                if line.connect_ex(("127.0.0.1", int(self.port))) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit(f"nothing listens at port {self.port}")

    def close(self) -> None:
        """End the shell and all it has started."""
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.communicate()


def _environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LANG", "SSL_CERT_FILE") if name in os.environ}
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    alone = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "TZ": "UTC",
        "USER": "you",
        "LOGNAME": "you",
    }
    return {**kept, **person, **alone, "HOME": str(home), "PATH": path, "XDG_CONFIG_HOME": str(home / ".config")}


def played(text: str) -> list[list[tuple[Command, str]]]:
    """Play all blocks of a page in one session; return each command with what it printed."""
    with tempfile.TemporaryDirectory(prefix="agent-sync-page-", ignore_cleanup_errors=True) as directory:
        session = Session(Path(directory))
        try:
            return [[(command, session.run(command)) for command in block] for block in blocks(text)]
        finally:
            session.close()


def rewritten(text: str) -> str:
    """Return the page with what its commands print now; what differs only from run to run stays."""
    answers = iter(played(text))
    return _BLOCK.sub(lambda _: _block(next(answers)), text)


def _block(commands: list[tuple[Command, str]]) -> str:
    lines = []
    for command, printed in commands:
        is_same = comparable(command.shown) == comparable(printed)
        shown = command.shown if is_same else printed
        lines += [f"$ {command.typed}", *(line.rstrip() for line in shown.strip("\n").splitlines())]
    return "\n".join(["```console", *lines, "```"])


def is_played(text: str) -> bool:
    """Whether a page's commands are run as one session."""
    return MARK in text[:400]


def main() -> None:
    """Write what the commands of the named pages print; without names, of all pages that are played."""
    named = [Path(name) for name in sys.argv[1:]]
    for page in named or [page for page in sorted(DOCS.rglob("*.md")) if is_played(page.read_text(encoding="utf-8"))]:
        before = page.read_text(encoding="utf-8")
        after = rewritten(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"written: {page}")


if __name__ == "__main__":
    main()
