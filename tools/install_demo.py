"""Sets up what the demo needs and nothing more, and shows how far it is.

`python tools/install_demo.py build/demo` makes a virtual environment there from requirements/demo.txt, in which
agent-sync runs from this checkout.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "demo.txt"
# pip names each package once: fetched, found as a file, or left out on this machine.
NAMED = re.compile(r"(?:Collecting |Ignoring |Processing (?:\S*/)?)(?P<name>[A-Za-z0-9_.]+(?:-[A-Za-z][\w.]*)*)")


class Progress:
    """One line that is rewritten on a terminal, and one line per step elsewhere."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()

    def show(self, text: str) -> None:
        """Show a step."""
        room = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{text[:room]}" if self.is_terminal else text, end="" if self.is_terminal else "\n", flush=True)

    def end(self, text: str) -> None:
        """Show the last step and leave it there."""
        self.show(text)
        if self.is_terminal:
            print(flush=True)


def locked_packages() -> int:
    """Count what the lock file pins."""
    return len(re.findall(r"^[\w.-]+==", LOCK.read_text(encoding="utf-8"), re.MULTILINE))


def run(command: list[str], progress: Progress) -> None:
    """Run pip, count the packages it names, and show all it said if it fails."""
    total, named, said = locked_packages(), 0, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            said.append(line)
            if match := NAMED.match(line):
                named += 1
                progress.show(f"  {named}/{total} {match['name']}")
            elif line.startswith("Installing"):
                progress.show(f"  unpacking {named} packages …")
    if process.returncode:
        progress.end("  that failed; pip said:")
        sys.exit("".join(said))


def install(directory: Path) -> None:
    """Make the virtual environment anew and fill it."""
    progress, began = Progress(), time.monotonic()
    print(f"setting up {directory} for the demo, this once …")
    progress.show("  a virtual environment …")
    subprocess.run([sys.executable, "-m", "venv", "--clear", directory], check=True)
    python = str(directory / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    run([*pip, "--no-compile", "--require-hashes", "--requirement", str(LOCK)], progress)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    # What an editable installation does, without the packages that build one.
    Path(site.stdout.strip(), "agent_sync.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    progress.end(f"  ready after {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    install(Path(sys.argv[1]))
