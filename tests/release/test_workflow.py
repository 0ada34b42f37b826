"""Checks the promises of the release workflow that can be read from it."""

from pathlib import Path

import pytest

WORKFLOWS = Path(__file__).parent.parent.parent / ".github" / "workflows"


def jobs_of(name: str) -> dict[str, dict]:
    """Return the jobs of a workflow."""
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(WORKFLOWS / name)["jobs"]


@pytest.fixture
def jobs() -> dict[str, dict]:
    """Return the jobs of the release."""
    return jobs_of("release.yml")


def needed(jobs: dict[str, dict], name: str) -> set[str]:
    """Return every job that must have succeeded before one starts."""
    needs = jobs[name].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*(needed(jobs, job) for job in direct))


def actions(job: dict) -> list[str]:
    """Return the actions that a job uses, without their pins."""
    return [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]


def test_nothing_is_published_before_all_of_ci_has_passed(jobs):
    """Attesting, publishing and announcing wait for the refusals and for the whole of CI on the tag."""
    assert jobs["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert needed(jobs, "ci") == {"check"}
    for name in ("attest", "publish", "announce"):
        assert {"check", "ci"} <= needed(jobs, name)
        assert "if" not in jobs[name]


def test_published_files_are_the_tested_ones(jobs):
    """After CI nothing is checked out or built: the artifact that CI's tests installed is what goes out."""
    artifacts = {
        step["with"]["name"]
        for job in jobs_of("ci.yml").values()
        for step in job["steps"]
        if "download-artifact@" in step.get("uses", "")
    }
    assert artifacts == {"dist"}
    for name in ("attest", "publish", "announce"):
        assert "actions/checkout" not in actions(jobs[name])
        assert jobs[name]["steps"][0]["with"] == {"name": "dist", "path": "dist"}


def test_jobs_may_do_one_thing_each(jobs):
    """Only the uploading and the attesting job get an identity, and neither runs a command; one job writes the release."""
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "check": {"contents": "read"},
        "ci": {"contents": "read"},
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }
    for name in ("attest", "publish"):
        assert [step for step in jobs[name]["steps"] if "run" in step] == []


def test_index_is_reached_without_a_token(jobs):
    """The index trusts the workflow itself, in an environment that people can guard."""
    assert jobs["publish"]["environment"]["name"] == "pypi"
    assert jobs["publish"]["steps"][-1]["with"] == {"attestations": True}


def test_all_of_ci_waits_for_every_job():
    """No job of CI can fail without the one that branches require failing too."""
    ci = jobs_of("ci.yml")
    assert set(ci["required"]["needs"]) == set(ci) - {"required"}
