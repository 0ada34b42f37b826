"""Checks how `make demo` sets itself up: from a short lock file, with a sign of life."""

import re
import sys
from pathlib import Path

import pytest

from tools.install_demo import Progress, locked_packages, run

REQUIREMENTS = Path(__file__).parent.parent.parent / "requirements"
PIP = """
print("Looking in indexes: …")
print("Ignoring colorama: markers 'os_name == \\"nt\\"' don't match your environment")
print("Collecting anyio==4.16.0 (from -r requirements/demo.txt (line 4))")
print("  Downloading anyio-4.16.0-py3-none-any.whl (110 kB)")
print("Processing /somewhere/typing_extensions-4.16.0-py3-none-any.whl")
print("Installing collected packages: anyio, typing-extensions")
"""


def pins(name: str) -> dict[str, str]:
    """Return the locked version of every package of a lock file."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (REQUIREMENTS / name).read_text(), re.MULTILINE))


def test_demo_installs_what_the_tests_have_tested():
    """The demo's lock pins the same versions as the one of the tests, and none of their tools."""
    demo, dev = pins("demo.txt"), pins("dev.txt")
    assert locked_packages() == len(demo)
    assert {name for name, version in demo.items() if dev[name] != version} == set()
    assert {"hatchling", "hypothesis", "mypy", "pytest", "ruff"} & set(demo) == set()


def test_progress_names_every_package(capsys):
    """Each package that pip names is one step, whether it is fetched, found or left out."""
    run([sys.executable, "-c", PIP], Progress())
    total = locked_packages()
    assert capsys.readouterr().out.splitlines() == [
        f"  1/{total} colorama",
        f"  2/{total} anyio",
        f"  3/{total} typing_extensions",
        "  unpacking 3 packages …",
    ]


def test_failure_shows_what_pip_said():
    """Whoever cannot install sees pip's own words, and make sees a failure."""
    with pytest.raises(SystemExit) as ended:
        run([sys.executable, "-c", "print('ERROR: no such package'); raise SystemExit(1)"], Progress())
    assert ended.value.code == "ERROR: no such package\n"
