"""Checks what the package index shows: URLs, and a description whose links lead somewhere from there."""

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from agent_sync import __version__
from hatch_build import index_page

ROOT = Path(__file__).parent.parent.parent
HERE = "https://github.com/octo/thing"


class Links(HTMLParser):
    """Everything in a page that points elsewhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag points to."""
        del tag
        self.found += [value or "" for name, value in attrs if name in {"href", "src", "srcset"}]


def links_of(markdown: str) -> list[str]:
    """Return what a Markdown text points to once it is shown."""
    return Links(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)).found


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """Build the source distribution and the wheel."""
    directory = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", directory]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    return directory


@pytest.fixture(scope="module")
def metadata(distributions) -> email.message.Message:
    """Read the wheel's METADATA as an index does."""
    [wheel] = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name))


def address() -> str:
    """Return the repository's address."""
    shown = subprocess.run([sys.executable, "tools/address.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return shown.stdout.strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](docs/a.md)", f"[a]({HERE}/blob/v1.0/docs/a.md)"),
        ("[a](./docs/a.md#b)", f"[a]({HERE}/blob/v1.0/docs/a.md#b)"),
        ('[a](docs/a.md "A")', f'[a]({HERE}/blob/v1.0/docs/a.md "A")'),
        ("[a](#b)", f"[a]({HERE}/blob/v1.0/README.md#b)"),
        ("[`a`](LICENSE)", f"[`a`]({HERE}/blob/v1.0/LICENSE)"),
        ("![a](docs/a.svg)", f"![a]({HERE}/raw/v1.0/docs/a.svg)"),
        ("[![a](docs/a.gif)](docs/a.md)", f"[![a]({HERE}/raw/v1.0/docs/a.gif)]({HERE}/blob/v1.0/docs/a.md)"),
        ("[a]: docs/a.md", f"[a]: {HERE}/blob/v1.0/docs/a.md"),
        ('<img alt="" src="docs/a.png">', f'<img alt="" src="{HERE}/raw/v1.0/docs/a.png">'),
        ('<a href="docs/a.md">', f'<a href="{HERE}/blob/v1.0/docs/a.md">'),
        ("[a](https://example.com/a.svg)", "[a](https://example.com/a.svg)"),
        ("[a](mailto:a@example.com)", "[a](mailto:a@example.com)"),
        ("`[a](b)` and\n```\n[a](b)\n```\n", "`[a](b)` and\n```\n[a](b)\n```\n"),
    ],
)
def test_links_are_made_absolute(text, shown):
    """Every form of a link is seen from outside the repository; code stays as it is."""
    assert index_page(text, HERE, "1.0") == shown


def test_no_link_of_the_description_is_relative(metadata):
    """Nothing on the index page leads to a place that is only in the repository."""
    links = links_of(metadata.get_payload(decode=True).decode())
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_every_link_of_the_description_has_its_file(metadata):
    """What a link names at the release's tag is in the repository."""
    prefix = re.compile(re.escape(address()) + r"/(?:blob|raw)/v" + re.escape(__version__) + r"/([^#]+)")
    links = links_of(metadata.get_payload(decode=True).decode())
    named = [match[1] for link in links if (match := prefix.match(link))]
    assert [name for name in links_of((ROOT / "README.md").read_text()) if not name.startswith("http")]
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_project_urls_are_below_the_one_address(metadata):
    """Home page, documentation, issues and changelog derive from the repository's address."""
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert list(urls) == ["Homepage", "Documentation", "Issues", "Changelog"]
    assert [url for url in urls.values() if not f"{url}/".startswith(f"{address()}/")] == []


def test_package_says_where_it_runs(metadata):
    """The classifiers name what CI tests, and not Windows."""
    classifiers = metadata.get_all("Classifier")
    systems = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("Operating System")]
    assert systems == ["MacOS", "Linux"]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    versions = [line.rpartition(" :: ")[2] for line in classifiers if "Python :: 3." in line]
    assert f"python: {versions}".replace("'", '"') in workflow


def test_wheel_of_the_source_distribution_is_the_same(distributions, tmp_path):
    """Whoever builds from the published sources, without git, gets the published wheel."""
    [sources], [wheel] = distributions.glob("*.tar.gz"), distributions.glob("*.whl")
    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.iterdir()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, cwd=unpacked, capture_output=True, check=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
