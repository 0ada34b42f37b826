"""Checks what decides about a release: tag, version, changelog and the repository's address."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PLACEHOLDER = "https://github.com/OWNER/" + "thing"
REAL = "https://github.com/octo/thing"
CHANGELOG = """# Changelog

<!-- towncrier release notes start -->

## 0.2.0 (2026-11-17)

### Added

- A thing.

## 0.1.0 (2026-01-01)

- The first.
"""


class Project:
    """A small repository with all that a release looks at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write(
            {
                "agent_sync/__init__.py": '"""A thing."""\n\n__version__ = "0.2.0"\n',
                "CHANGELOG.md": CHANGELOG,
                "changelog.d/README.md": "Fragments.\n",
                "pyproject.toml": f'[tool.hatch.metadata.hooks.custom]\nrepository = "{REAL}"\n',
                "README.md": "claude plugin install thing --marketplace octo/thing\n",
            }
        )

    def write(self, files: dict[str, str]) -> None:
        """Write files and let git track them."""
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        subprocess.run(["git", "add", *files], cwd=self.root, check=True)

    def run(self, tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the tools on this repository."""
        command = [sys.executable, ROOT / "tools" / tool, "--root", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def refusals(self, tag: str = "v0.2.0", repository: str = REAL) -> list[str]:
        """Return why the tag may not be published."""
        done = self.run("release.py", "check", tag, "--repository", repository)
        assert done.returncode == (1 if done.stderr else 0)
        return done.stderr.splitlines()


@pytest.fixture
def project(repo) -> Project:
    """Make a repository that is ready to be published."""
    return Project(repo)


def test_ready_project_is_published(project):
    """With tag, version, changelog and address in agreement nothing stands against it."""
    assert project.refusals() == []


@pytest.mark.parametrize("tag", ["v0.1.0", "0.2.0", "v0.2.0rc1", "v0.2"])
def test_other_tag_is_refused(project, tag):
    """A tag that is not the package's version publishes nothing."""
    assert project.refusals(tag) == [
        f"refused: The tag is {tag}, but agent_sync/__init__.py says 0.2.0: the tag must be v0.2.0."
    ]


@pytest.mark.parametrize(
    ("heading", "refusal"),
    [
        ("## 0.2.1 (2026-11-17)", "CHANGELOG.md says nothing of 0.2.0."),
        ("## 0.2.0 (unreleased)", "CHANGELOG.md has no date for 0.2.0: its heading says unreleased."),
        (
            "## 0.2.0 (2026-11-18)\n\n- More.\n\n## 0.2.0 (2026-11-17)",
            "CHANGELOG.md has 2 sections on 0.2.0: make them one.",
        ),
        ("## 0.2.0 (2026-11-17)\n\n## 0.1.1 (2026-11-16)", "CHANGELOG.md says nothing of 0.2.0."),
    ],
    ids=["missing", "without-date", "twice", "empty"],
)
def test_unfinished_changelog_is_refused(project, heading, refusal):
    """Without exactly one dated section about the version there is no release."""
    project.write({"CHANGELOG.md": CHANGELOG.replace("## 0.2.0 (2026-11-17)", heading)})
    assert project.refusals() == [f"refused: {refusal}"]


def test_waiting_fragments_are_refused(project):
    """A change whose fragment was not gathered is not released in silence."""
    project.write({"changelog.d/late.fixed.md": "Late.\n"})
    assert project.refusals() == ["refused: Changelog fragments wait to be gathered: late.fixed.md."]


def test_placeholder_address_is_refused(project):
    """Nothing is published while nobody has said where the repository is, whoever asks."""
    project.write({"pyproject.toml": f'[tool.hatch.metadata.hooks.custom]\nrepository = "{PLACEHOLDER}"\n'})
    for repository in ("", REAL, PLACEHOLDER):
        assert project.refusals(repository=repository) == [
            f"refused: The repository's address is a placeholder, {PLACEHOLDER}. Try: python tools/address.py URL"
        ]


def test_other_repository_is_refused(project):
    """A fork does not publish under the address of the original."""
    assert project.refusals(repository="https://github.com/mona/thing") == [
        f"refused: This is https://github.com/mona/thing, but pyproject.toml says {REAL}. Try: python tools/address.py URL"
    ]


def test_placeholder_in_a_text_is_refused(project):
    """A command of the README that still names nobody's repository stops the release too."""
    project.write({"README.md": "claude plugin install thing --marketplace OWNER/" + "thing\n"})
    assert project.refusals() == ["refused: A placeholder is left in README.md."]


def test_address_is_changed_wherever_it_is_spelled_out(project):
    """One command writes a new address into pyproject.toml and into every text that names the repository."""
    project.write({"docs/x.md": "See octo/thing-else and not-octo/thing, and git@github.com:octo/thing.git\n"})
    done = project.run("address.py", "https://git.example.com/mona/tool")
    assert done.stdout.splitlines()[-1] == "https://git.example.com/mona/tool"
    assert 'repository = "https://git.example.com/mona/tool"' in (project.root / "pyproject.toml").read_text()
    assert (project.root / "README.md").read_text() == "claude plugin install thing --marketplace mona/tool\n"
    assert (project.root / "docs" / "x.md").read_text() == (
        "See octo/thing-else and not-octo/thing, and git@github.com:mona/tool.git\n"
    )
    assert project.run("address.py", "nowhere").returncode == 1


def test_notes_are_the_section_of_the_version(project):
    """The release page gets the version's own section, without its heading and without its neighbours."""
    assert project.run("release.py", "notes", "v0.2.0").stdout == "### Added\n\n- A thing.\n"
    assert project.run("release.py", "notes", "0.1.0").stdout == "- The first.\n"
    assert project.run("release.py", "notes", "9.9.9").returncode == 1


def test_gathered_fragments_are_released(project):
    """What towncrier writes for a version is what a release accepts."""
    settings = (ROOT / "pyproject.toml").read_text()
    project.write({"pyproject.toml": settings[settings.index("[tool.towncrier]") :]})
    project.write({"changelog.d/new.added.md": "Added a new thing.\n"})
    project.write({"agent_sync/__init__.py": '__version__ = "0.3.0"\n'})
    build = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "0.3.0", "--date", "2026-12-24"]
    subprocess.run(build, cwd=project.root, capture_output=True, check=True)
    project.write({"pyproject.toml": f'[tool.hatch.metadata.hooks.custom]\nrepository = "{REAL}"\n'})
    assert project.refusals("v0.3.0") == []
    assert project.run("release.py", "notes", "0.3.0").stdout == "### Added\n\n- Added a new thing.\n"


def test_first_release_has_notes():
    """CHANGELOG.md tells strangers what the first release is."""
    done = subprocess.run(
        [sys.executable, "tools/release.py", "notes", "0.1.0"], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0


def test_address_stands_in_one_place():
    """Wherever a text spells the repository's address out, it is the one of pyproject.toml."""
    shown = subprocess.run([sys.executable, "tools/address.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    address = shown.stdout.strip()
    grep = ["git", "grep", "-hoE", r"https://github\.com/[A-Za-z0-9_.-]+/agent-sync\b"]
    found = subprocess.run(grep, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(found) == {address}
