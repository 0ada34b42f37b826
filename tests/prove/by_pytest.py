"""Families whose cases are tests: a file, a function or one parameter of it, with the long sweeps switched on."""

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from support.clients import Nursery

from prove.case import Case, Ending, Family, Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
_PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "-o",
    "junit_family=xunit1",
)


def by_tests(name: str, promise: str, cases: Mapping[str, float]) -> Family:
    """Return a family of tests, each with about how many seconds it takes."""
    return Family(
        name, promise, lambda _: list(cases), lambda case: Case(case, functools.partial(_run, case), cases[case])
    )


def _run(name: str, _nursery: Nursery) -> Ending:
    environment = dict(os.environ) | {"AGENT_SYNC_PROVE": "1", "PYTHONPATH": ""}
    with tempfile.TemporaryDirectory(prefix="prove-tests-") as directory:
        results = Path(directory) / "results.xml"
        command = [*_PYTEST, f"--junitxml={results}", f"--basetemp={directory}/tests", f"tests/{name}"]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if not results.exists():
            return Ending(Verdict.FAILED, done.stdout[-500:] + done.stderr[-500:])
        # The file was written by pytest a moment ago.
        return ending_of(ET.parse(results).getroot())  # noqa: S314


def ending_of(results: ET.Element) -> Ending:
    """Judge a run of tests: one that fails has found a loss; if all are skipped, it cannot be tried here."""
    cases = list(results.iter("testcase"))
    broken = [(case, found) for case in cases if (found := _trouble(case)) is not None]
    if broken:
        said = "; ".join(f"{case.get('name')}: {found.get('message', '')[:300]}" for case, found in broken)
        return Ending(Verdict.LOST, said[:2000], len(cases))
    skipped = [found for case in cases if (found := case.find("skipped")) is not None]
    if len(skipped) == len(cases):
        return Ending(Verdict.SKIPPED, skipped[0].get("message", "") if skipped else "there are no such tests")
    counted = [one.get("value", "") for one in results.iter("property") if one.get("name") == "counted"]
    return Ending(Verdict.SURVIVED, "; ".join(counted), len(cases) - len(skipped))


def _trouble(case: ET.Element) -> ET.Element | None:
    failure = case.find("failure")
    return case.find("error") if failure is None else failure
