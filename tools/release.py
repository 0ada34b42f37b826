"""Answers what a release needs to know: may this tag be published, and which notes belong to it.

`release.py check v1.2.3` names every reason not to publish and fails if there is one; `release.py notes 1.2.3` prints
the section of CHANGELOG.md. Both need nothing but the standard library.
"""

import argparse
import re
import sys
from pathlib import Path

from address import PLACEHOLDER, ROOT, is_placeholder, mentions, repository_address, slug_of

VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
SECTION = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]+)\)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def package_version(root: Path) -> str:
    """Return the version that the package says it is."""
    match = VERSION.search((root / "agent_sync" / "__init__.py").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("agent_sync/__init__.py has no line __version__ = …")
    return match["version"]


def changelog_sections(version: str, root: Path) -> list[re.Match[str]]:
    """Find what CHANGELOG.md says of a version: one section, if all is well."""
    sections = SECTION.finditer((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return [section for section in sections if section["version"] == version and section["text"].strip()]


def waiting_fragments(root: Path) -> list[str]:
    """List the changelog fragments that no release has gathered."""
    return sorted(file.name for file in (root / "changelog.d").glob("*.md") if file.name != "README.md")


def obstacles(tag: str, repository: str, root: Path) -> list[str]:
    """List every reason not to publish this tag from that repository (any, if none is given)."""
    version, address = package_version(root), repository_address(root)
    found = []
    if tag != f"v{version}":
        found.append(f"The tag is {tag}, but agent_sync/__init__.py says {version}: the tag must be v{version}.")
    found += _changelog_obstacles(version, root)
    if is_placeholder(address):
        found.append(f"The repository's address is a placeholder, {address}. Try: python tools/address.py URL")
    elif repository and repository != address:
        found.append(f"This is {repository}, but pyproject.toml says {address}. Try: python tools/address.py URL")
    left = mentions(f"{PLACEHOLDER}/{slug_of(address).partition('/')[2]}", root)
    if left and not is_placeholder(address):
        found.append("A placeholder is left in " + ", ".join(str(file.relative_to(root)) for file in left) + ".")
    return found


def _changelog_obstacles(version: str, root: Path) -> list[str]:
    sections = changelog_sections(version, root)
    found = []
    if not sections:
        found.append(f"CHANGELOG.md says nothing of {version}.")
    if len(sections) > 1:
        found.append(f"CHANGELOG.md has {len(sections)} sections on {version}: make them one.")
    found += [
        f"CHANGELOG.md has no date for {version}: its heading says {section['date']}."
        for section in sections
        if not DATE.fullmatch(section["date"])
    ]
    fragments = waiting_fragments(root)
    if fragments:
        found.append(f"Changelog fragments wait to be gathered: {', '.join(fragments)}.")
    return found


def check(tag: str, repository: str, root: Path) -> None:
    """Say whether the tag may be published, and fail if not."""
    found = obstacles(tag, repository, root)
    for obstacle in found:
        print(f"refused: {obstacle}", file=sys.stderr)
    if found:
        raise SystemExit(1)
    print(f"{tag} may be published from {repository_address(root)}.")


def notes(version: str, root: Path) -> None:
    """Print the notes of a version."""
    sections = changelog_sections(version, root)
    if not sections:
        raise SystemExit(f"CHANGELOG.md says nothing of {version}.")
    print(sections[0]["text"].strip())


def main() -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(description="Check a release, or print its notes.")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="name every reason not to publish a tag")
    checking.add_argument("tag")
    checking.add_argument("--repository", default="", help="the address that publishes")
    printing = commands.add_parser("notes", help="print the changelog section of a version")
    printing.add_argument("version", help="with or without a leading v")
    arguments = parser.parse_args()
    if arguments.command == "check":
        check(arguments.tag, arguments.repository, arguments.root)
    else:
        notes(arguments.version.removeprefix("v"), arguments.root)


if __name__ == "__main__":
    main()
