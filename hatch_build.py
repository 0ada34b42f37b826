"""Gives the package its URLs, and the README links that also work on the package index's page."""

import posixpath
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")
# Code comes first, so that what only looks like a link inside it stays as it is.
LINK = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]+`)"
    r"|(?P<before>\]\(|^\[[^\]\n]+\]:[ ]+|\b(?:href|src|srcset)=\")(?P<target>[^)\s\"]+)",
    re.MULTILINE | re.DOTALL,
)
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def project_urls(repository: str, version: str) -> dict[str, str]:
    """Return what the package index shows beside the description."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/v{version}/docs",
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def absolute_target(target: str, repository: str, version: str) -> str:
    """Return a link's target as it is seen from outside the repository, at the tag of this version."""
    if ABSOLUTE.match(target):
        return target
    if target.startswith("#"):
        return f"{repository}/blob/v{version}/README.md{target}"
    path, mark, anchor = target.partition("#")
    kind = "raw" if path.endswith(PICTURES) else "blob"
    return f"{repository}/{kind}/v{version}/{posixpath.normpath(path)}{mark}{anchor}"


def index_page(readme: str, repository: str, version: str) -> str:
    """Return the README with every link made absolute."""

    def replaced(match: re.Match[str]) -> str:
        if match["code"]:
            return match["code"]
        return match["before"] + absolute_target(match["target"], repository, version)

    return LINK.sub(replaced, readme)


class Addresses(MetadataHookInterface):
    """Derives everything that holds the repository's address from the one setting of this hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields that pyproject.toml calls dynamic."""
        repository, version = self.config["repository"], metadata["version"]
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["urls"] = project_urls(repository, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": index_page(readme, repository, version)}
