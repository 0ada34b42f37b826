"""Plays a release up to the upload: checks what was built, and installs it from an index as strangers will.

`python tools/try_release.py dist` looks at the distributions there. The index is a directory served on loopback, with
agent-sync, the packages that requirements/demo.txt pins, and pip; nothing else is in reach of the installers. It needs
the packages of requirements/release.txt beside the Python that runs it.
"""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from address import ROOT
from release import obstacles, package_version

PACKAGE = "agent-sync-github[emulator]"
TOOLS = Path(sys.executable).parent


class Silent(SimpleHTTPRequestHandler):
    """Serves files without telling each."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the standard library's)
        """Keep quiet."""


def run(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    """Run a command to its end, and return what it printed; end with all it said if it fails."""
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def say(text: str) -> None:
    """Report a step that went well."""
    print(f"ok    {text}", flush=True)


def check_files(files: list[Path]) -> None:
    """Check the names, the metadata and the rendered description."""
    version = package_version(ROOT)
    expected = {f"agent_sync_github-{version}-py3-none-any.whl", f"agent_sync_github-{version}.tar.gz"}
    if {file.name for file in files} != expected:
        sys.exit(f"failed: expected {sorted(expected)}, found {sorted(file.name for file in files)}")
    run(TOOLS / "twine", "check", "--strict", *files)
    say("metadata and description pass twine check --strict")


def tell_obstacles() -> None:
    """Say what would still refuse to publish this version; that is no fault of the distributions."""
    for obstacle in obstacles(f"v{package_version(ROOT)}", "", ROOT):
        print(f"note  publishing is refused: {obstacle}")


def fill_index(files: list[Path], index: Path) -> None:
    """Lay out an index: a folder for each project, with its files."""
    fetched = index.parent / "fetched"
    for lock in ("demo.txt", "installer.txt"):
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--require-hashes"]
        run(*pip, "--requirement", ROOT / "requirements" / lock, "--dest", fetched)
    for file in [*files, *fetched.iterdir()]:
        name = re.sub(r"[-_.]+", "-", re.split(r"-\d", file.name, maxsplit=1)[0]).lower()
        (index / "simple" / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, index / "simple" / name)
    say(f"an index of {len(list((index / 'simple').iterdir()))} projects")


@contextlib.contextmanager
def served(directory: Path) -> Iterator[str]:
    """Serve a directory on loopback, and give the address of its index."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(directory)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()


def strangers_environment(home: Path) -> dict[str, str]:
    """Return the environment of somebody who has set nothing up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON", "XDG_"))}
    nothing = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
    return kept | nothing | {"HOME": str(home), "VIRTUAL_ENV": ""}


def try_pip(index: str, place: Path) -> None:
    """Install from the index into an empty environment, and play the demo there."""
    environment, venv = strangers_environment(place), place / "venv"
    run(sys.executable, "-m", "venv", venv)
    pip: list[str | Path] = [venv / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "--index-url", index, PACKAGE, environment=environment)
    run(*pip, "check", environment=environment)
    check_version(run(venv / "bin" / "agent-sync", "--version", environment=environment))
    say("pip installs it into an empty environment")
    run(venv / "bin" / "agent-sync", "demo", "--fast", environment=environment)
    say("agent-sync demo plays there")


def try_uv(index: str, place: Path) -> None:
    """Run it as `uvx` does, and install its command as `uv tool install` does."""
    environment = strangers_environment(place) | {"UV_DEFAULT_INDEX": index}
    uv: list[str | Path] = [TOOLS / "uv", "--quiet", "tool"]
    python = ["--python", sys.executable]
    check_version(run(*uv, "run", *python, "--from", PACKAGE, "agent-sync", "--version", environment=environment))
    say("uvx runs it")
    run(*uv, "install", *python, PACKAGE, environment=environment)
    check_version(run(place / ".local" / "bin" / "agent-sync", "--version", environment=environment))
    say("uv tool install puts agent-sync on the PATH")


def try_pipx(index: str, place: Path) -> None:
    """Install its command as `pipx install` does."""
    # It asks uv where there is one, and pip elsewhere.
    environment = strangers_environment(place) | {"PIP_INDEX_URL": index, "UV_DEFAULT_INDEX": index}
    run(TOOLS / "pipx", "install", "--python", sys.executable, PACKAGE, environment=environment)
    check_version(run(place / ".local" / "bin" / "agent-sync", "--version", environment=environment))
    say("pipx install puts agent-sync on the PATH")


def check_version(printed: str) -> None:
    """Compare what the installed command prints with what was built."""
    expected = f"agent-sync, version {package_version(ROOT)}"
    if printed.strip() != expected:
        sys.exit(f"failed: agent-sync --version printed {printed.strip()!r}, not {expected!r}")


def main() -> None:
    """Check the distributions in the directory that is named."""
    files = sorted(file for file in Path(sys.argv[1]).resolve().iterdir() if not file.name.startswith("."))
    check_files(files)
    tell_obstacles()
    with tempfile.TemporaryDirectory(prefix="agent-sync-release-") as directory:
        place = Path(directory)
        fill_index(files, place / "index")
        with served(place / "index") as index:
            for number, attempt in enumerate((try_pip, try_uv, try_pipx)):
                home = place / f"home-{number}"
                home.mkdir()
                attempt(index, home)


if __name__ == "__main__":
    main()
