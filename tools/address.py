"""Shows or changes the repository's public address, which stands in pyproject.toml and nowhere else.

`python tools/address.py` prints it. `python tools/address.py https://github.com/NAME/REPOSITORY` writes it there, and
OWNER/REPOSITORY anew into every tracked text that has to spell it out for its readers, such as a command of the README.
"""

import argparse
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = "OWNER"
ADDRESS = re.compile(r"https://[\w.-]+/(?P<slug>(?P<owner>[\w.-]+)/[\w.-]+)")


def repository_address(root: Path = ROOT) -> str:
    """Return the address that pyproject.toml holds."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    address: str = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    return address


def slug_of(address: str) -> str:
    """Return OWNER/REPOSITORY of an address."""
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise SystemExit(f"{address} is not the address of a repository, such as https://github.com/NAME/REPOSITORY.")
    return match["slug"]


def is_placeholder(address: str) -> bool:
    """Say whether an address still waits for its owner's name."""
    return slug_of(address).partition("/")[0] == PLACEHOLDER


def tracked_texts(root: Path) -> list[Path]:
    """List the files that git tracks and that hold text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = [root / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink() and _is_text(file)]


def _is_text(file: Path) -> bool:
    try:
        file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def mentions(slug: str, root: Path) -> list[Path]:
    """List the tracked texts that spell OWNER/REPOSITORY out."""
    spelled = _spelled(slug)
    return [file for file in tracked_texts(root) if spelled.search(file.read_text(encoding="utf-8"))]


def change_address(address: str, root: Path) -> list[Path]:
    """Write a new address wherever the present one is spelled out, and return the files changed."""
    before, after = slug_of(repository_address(root)), slug_of(address)
    changed = mentions(before, root)
    for file in changed:
        text = file.read_text(encoding="utf-8")
        if file == root / "pyproject.toml":
            text = text.replace(f'"{repository_address(root)}"', f'"{address}"')
        file.write_text(_spelled(before).sub(after, text), encoding="utf-8")
    return changed


def _spelled(slug: str) -> re.Pattern[str]:
    # Not as a part of a longer path or name.
    return re.compile(rf"(?<![\w.-]){re.escape(slug)}(?![\w-])")


def main() -> None:
    """Print the address, or change it."""
    parser = argparse.ArgumentParser(description="Show or change the repository's public address.")
    parser.add_argument("address", nargs="?", help="https://github.com/NAME/REPOSITORY")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.address:
        for file in change_address(arguments.address, arguments.root):
            print(f"changed {file.relative_to(arguments.root)}")
    print(repository_address(arguments.root))


if __name__ == "__main__":
    main()
