"""Keeps the project's own promises: fresh documents, valid workflows, a lock without hosts, small modules."""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import check_jsonschema
import jsonschema
import pytest
from click.testing import CliRunner
from support.claims import claim

from agent_sync.task.claim.model import Claim

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "agent_sync" / "schemas"
SOFT_CEILING = 600
# The rooms in which every question to git has a name; `gateway` asks GitHub, not git.
LARGEST_FOLDER = 20


def yaml(file):
    """Return what a YAML file holds."""
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(file)


def problems(schema, *names):
    """Return what a published schema has against files of this repository."""
    arguments = ["--builtin-schema", schema, *(str(ROOT / ".github" / name) for name in names)]
    done = CliRunner().invoke(check_jsonschema.main, arguments)
    return f"{done.exit_code}: {done.output}" if done.exit_code else ""


def test_generated_documents_are_fresh():
    """Diagrams, tables, help pages and schemas say what the code says now."""
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_are_valid(workflow):
    """Every workflow follows GitHub's schema, grants nothing by default and pins what it uses by hash."""
    assert problems("vendor.github-workflows", f"workflows/{workflow.name}") == ""
    text = workflow.read_text()
    assert "\npermissions: {}\n" in text
    # A workflow or action of this repository is the one of the same commit.
    foreign = [use for use in re.findall(r"\buses: (\S+)", text) if not use.startswith("./")]
    assert [use for use in foreign if not re.search(r"@[0-9a-f]{40}$", use)] == []


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_secrets_are_given_to_single_steps(workflow):
    """No secret is in reach of a whole workflow or job, whose other steps fetch and install."""
    values = yaml(workflow)
    jobs = values.pop("jobs").values()
    steps = [step for job in jobs for step in job.pop("steps", ())]
    assert "secrets" not in f"{values} {list(jobs)}"
    given = [step for step in steps if "secrets." in f"{step}"]
    assert [step for step in given if "uses" in step or "pip" in step["run"] or "make" in step["run"]] == []


def test_updates_of_actions_and_lock_are_automated():
    """Dependabot's file follows its schema and covers what the workflows use and what the lock pins."""
    assert problems("vendor.dependabot", "dependabot.yml") == ""
    updates = yaml(ROOT / ".github" / "dependabot.yml")["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}


@pytest.mark.parametrize(
    ("name", "schema"), [("bug", "issue-forms"), ("idea", "issue-forms"), ("config", "issue-config")]
)
def test_issue_templates_are_valid(name, schema):
    """GitHub can show what it finds in the folder of issue templates."""
    assert problems(f"vendor.github-{schema}", f"ISSUE_TEMPLATE/{name}.yml") == ""


@pytest.mark.parametrize("name", ["installer.txt", "action.txt", "demo.txt", "dev.txt", "lock.txt", "release.txt"])
def test_lock_is_hashed_and_names_no_host(name):
    """Every locked version has its hashes, and no line says where to fetch from."""
    text = (ROOT / "requirements" / name).read_text()
    assert "://" not in text
    assert "--index-url" not in text
    entries = re.findall(r"^([A-Za-z0-9._-]+)==.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    assert entries
    assert text.count(" \\\n    --hash=sha256:") >= len(entries)


def test_modules_stay_small():
    """No module grows beyond what can be read in one go."""
    sizes = {path.relative_to(ROOT): len(path.read_text().splitlines()) for path in (ROOT / "agent_sync").rglob("*.py")}
    assert {path: size for path, size in sizes.items() if size > SOFT_CEILING} == {}


def test_git_is_asked_in_its_own_modules():
    """A question to git is a function of `system/git*.py` or `leases/refs/git_refs.py`; nobody else does."""
    modules = [path for path in (ROOT / "agent_sync").rglob("*.py") if "emulator" not in path.parts]
    asking = {path.name for path in modules if re.search(r"\bgit\.ask\(", path.read_text())}
    assert {name for name in asking if not name.startswith("git")} == set()


def test_folders_stay_small():
    """No folder has more modules than can be taken in at a glance, but for those known to be too large."""
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "agent_sync").rglob("*.py"))
    assert {folder for folder, size in sizes.items() if size > LARGEST_FOLDER} == set()


def test_commit_hooks_run_what_lint_runs():
    """Every hook of pre-commit is local, fetches nothing, and runs a line of `make lint`."""
    repositories = yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = [hook for repository in repositories for hook in repository["hooks"]]
    assert {repository["repo"] for repository in repositories} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    lint = (ROOT / "Makefile").read_text().partition("\nlint: ")[2].partition("\n\n")[0]
    commands = [line.strip().replace("$(BIN)", ".venv/bin").removesuffix(" >/dev/null") for line in lint.splitlines()]
    assert [hook["entry"] for hook in hooks if hook["entry"] not in commands] == []


def test_quick_tests_are_there():
    """`make quick` names only tests that there are."""
    dry_run = subprocess.run(["make", "-n", "quick"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = [word for word in dry_run.stdout.split() if word.startswith("tests/")]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_names_of_test_files_are_unique():
    """Test folders are no packages, so that two files of one name cannot be collected in one run."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_support_modules_are_described():
    """Whoever writes a test finds every module of tests/support in its README."""
    support = ROOT / "tests" / "support"
    text = (support / "README.md").read_text()
    assert [path.stem for path in sorted(support.glob("*.py")) if f"`{path.stem}`" not in text] == []


def test_claim_schema_describes_the_file():
    """The shipped schema accepts what we write and refuses a phase we do not know."""
    schema = json.loads((SCHEMAS / "claim.schema.json").read_text())
    written = json.loads(claim().to_json())
    jsonschema.validate(written, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written | {"phase": "codign"}, schema)
    assert set(schema["required"]) == {name for name, field in Claim.model_fields.items() if field.is_required()}


def test_settings_schema_describes_the_file():
    """The shipped schema accepts a settings file and refuses unknown keys."""
    schema = json.loads((SCHEMAS / "settings.schema.json").read_text())
    jsonschema.validate(tomllib.loads("[project]\nnumber = 1\n[checks]\nbackoff_s = 30"), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"project": {"numbr": 1}}, schema)


def test_product_speaks_of_itself_only():
    """No file names the places or papers it was made from."""
    words = re.compile(r"\.\./shared/(?!github)|(?<![\w.])/work/|\bruling \d|\bseed 00\d", re.IGNORECASE)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = [name for name in tracked if name and (ROOT / name).is_file() and name != "tests/test_project.py"]
    texts = {name: (ROOT / name).read_bytes() for name in files}
    # Most files have not even a part of these words, which is quickly seen.
    parts = (b"/shared/", b"/work/", b"ruling ", b"seed 00")
    likely = {name: text for name, text in texts.items() if any(part in text.lower() for part in parts)}
    assert [name for name, text in likely.items() if words.search(text.decode(errors="replace"))] == []
