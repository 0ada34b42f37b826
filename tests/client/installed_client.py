"""Installs the unmodified Claude Code client below `build/client`, and finds it there.

`python tests/client/installed_client.py` installs the newest version with the ordinary npm; where that cannot be done it
says why and succeeds. Nothing outside of `build/client` is written, but for npm's own cache.
"""

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DIRECTORY = ROOT / "build" / "client"
PACKAGE = "@anthropic-ai/claude-code"
MISSING = "Claude Code is not installed in build/client; `make client` installs it"


def executable() -> Path | None:
    """Return the client's program: it lies in the optional dependency of the platform and needs no Node."""
    found = sorted((DIRECTORY / "node_modules" / PACKAGE).parent.glob("claude-code-*/claude"))
    return found[0] if found else None


def version() -> str:
    """Return which version of the client is installed."""
    file = DIRECTORY / "node_modules" / PACKAGE / "package.json"
    return str(json.loads(file.read_text(encoding="utf-8"))["version"])


def main() -> None:
    """Install or renew the client; one line says what there is now."""
    problem = _install()
    if problem:
        print(f"Claude Code cannot be installed: {problem}")
    if executable():
        print(f"Claude Code {version()} is in {DIRECTORY.relative_to(ROOT)}")
    else:
        print("The scenarios with the client are skipped.")


def _install() -> str:
    """Install the newest version; return what went wrong."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed."
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    # A package file of its own keeps npm from looking for one further up.
    (DIRECTORY / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    # Without a network one is told within seconds.
    options += ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
    command = [npm, "install", *options, f"{PACKAGE}@latest"]
    done = subprocess.run(command, cwd=DIRECTORY, capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines() or [f"npm ended with {done.returncode}."]
    return "" if done.returncode == 0 else lines[0]


if __name__ == "__main__":
    main()
