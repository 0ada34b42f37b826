import contextlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.gauntlet import write_files

from agent_sync.gates.config import yaml12
from agent_sync.gates.config.model import AdapterOptions, EntryPoint, Priority
from agent_sync.gates.config.project import find_project, load_project
from agent_sync.gates.config.tables import ConfigFile
from agent_sync.gates.config.yaml_values import BadYaml
from agent_sync.gates.run.execute import execute_run

SCHEMAS = Path(yaml12.__file__).parents[2] / "schemas"
MINIMAL = "entry_points:\n  - path: .\n"
CLI = "cli:\n  default_preference: [claude, codex]\n"


def load(root, **files):
    write_files(root, {".gauntlet/config.yml": MINIMAL} | files)
    return load_project(root)


def said(loaded):
    return [f"{problem.file.name}:{problem.line}: {problem.message}" for problem in loaded.problems]


def test_defaults(tmp_path):
    """A file with nothing but an entry point has the documented defaults."""
    loaded = load(tmp_path)
    project = loaded.project
    assert loaded.problems == ()
    assert (project.base_branch, project.max_retries, project.max_previous_logs) == ("origin/main", 3, 3)
    assert (project.log_dir, project.allow_parallel) == (tmp_path / "gauntlet_logs", True)
    assert (project.rerun_threshold, project.hook_enabled) == (Priority.MEDIUM, None)


def test_every_known_key_is_accepted(tmp_path):
    """All keys of the main file and of gates are read, those of other tools are accepted without a word."""
    config = """
base_branch: origin/trunk
log_dir: logs/gate
allow_parallel: false
max_retries: 5
max_previous_logs: 0
rerun_new_issue_threshold: high
cli:
  default_preference: [claude, codex]
  check_usage_limit: true
  adapters:
    claude: {allow_tool_use: false, thinking_budget: high, model: opus}
entry_points:
  - path: src/
    exclude: ["src/gen/**", src/vendor]
    checks: [lint]
    reviews: [quality, rules]
debug_log: {enabled: true, max_size_mb: 1}
logging: {level: info, console: {enabled: true, format: json}, file: {enabled: true, format: text}}
stop_hook: {enabled: false, auto_push_pr: true, auto_fix_pr: true}
"""
    check = """
name: ignored
command: ruff check ${BASE_BRANCH}
rerun_command: ruff check --fix
working_directory: entrypoint
parallel: false
run_in_ci: false
run_locally: true
timeout: 1.5
fail_fast: true
fix_instructions_file: fix.md
"""
    review = "---\nmodel: opus\ncli_preference: [codex]\nnum_reviews: 2\nparallel: false\nrun_in_ci: false\nrun_locally: true\ntimeout: 60\nenabled: true\n---\nLook well.\n"
    loaded = load(
        tmp_path,
        **{
            ".gauntlet/config.yml": config,
            ".gauntlet/checks/lint.yml": check,
            ".gauntlet/fix.md": "Do it.",
            ".gauntlet/reviews/quality.md": review,
            ".gauntlet/reviews/rules.yaml": "builtin: code-quality\n",
        },
    )
    project = loaded.project
    assert said(loaded) == []
    assert project.entry_points == (EntryPoint("src", ("src/gen/**", "src/vendor"), ("lint",), ("quality", "rules")),)
    assert (project.log_dir, project.rerun_threshold) == (tmp_path / "logs" / "gate", Priority.HIGH)
    assert project.adapters == {"claude": AdapterOptions(allow_tool_use=False, thinking_budget="high", model="opus")}
    assert project.hook_enabled is False
    lint, quality = project.checks["lint"], project.reviews["quality"]
    assert (lint.timeout, lint.fail_fast, lint.run_in_ci, lint.fix_instructions) == (
        1.5,
        True,
        False,
        tmp_path / ".gauntlet" / "fix.md",
    )
    assert (quality.prompt, quality.num_reviews, quality.cli_preference) == ("Look well.", 2, ("codex",))
    assert "defects" in project.reviews["rules"].prompt


def test_yaml_is_version_1_2(tmp_path):
    """`yes`, `no` and `on` are words, octal needs 0o, and times are text."""
    write_files(tmp_path, {".gauntlet/checks/yes.yml": "command: no\nworking_directory: on\ntimeout: 0o17\n"})
    check = load(tmp_path).project.checks["yes"]
    assert (check.command, check.working_directory, check.timeout) == ("no", "on", 15)


PROBLEMS = {
    "broken": (MINIMAL + "cli: [\n", "config.yml:4: is not valid YAML"),
    "twice": (MINIMAL + "max_retries: 1\nmax_retries: 2\n", "config.yml:4: is not valid YAML: `max_retries` is written twice; first on line 3"),
    "not a mapping": ("- a\n", "config.yml:1: the document must be a mapping, not a list"),
    "a tag of its own": ("=", "config.yml:1: the document must be a mapping, not the text `=`"),
    "no entry points": ("max_retries: 1\n", "config.yml:1: `entry_points` must list at least one part of the project"),
    "negative retries": (MINIMAL + "max_retries: -1\n", "config.yml:3: `max_retries` must be at least 0, not -1"),
    "half a retry": (MINIMAL + "max_retries: 1.5\n", "config.yml:3: `max_retries` must be a whole number"),
    "yes is a word": (MINIMAL + "allow_parallel: yes\n", "config.yml:3: `allow_parallel` must be true or false, not the text `yes`"),
    "unknown choice": (MINIMAL + "rerun_new_issue_threshold: 3\n", "config.yml:3: `rerun_new_issue_threshold` must be text, not the number 3"),
    "typo": (MINIMAL + "base_brnch: x\n", "config.yml:3: `base_brnch` is not known and is ignored; did you mean `base_branch`?"),
    "typo below": ("entry_points:\n  - path: .\n    cheks: []\n", "config.yml:3: `entry_points[0].cheks` is not known and is ignored; did you mean `checks`?"),
    "missing path": ("entry_points:\n  - checks: []\n", "config.yml:2: `entry_points[0].path` is missing"),
    "path outside": ("entry_points:\n  - path: ../x\n", "config.yml:2: `entry_points[0].path` must be inside the project, not `../x`"),
    "dangling": ("entry_points:\n  - path: .\n    checks: [lnt]\n", "config.yml:1: `entry_points` names the check `lnt` for `.`, which is not defined; defined: none"),
    "project as log": (MINIMAL + "log_dir: ./\n", "config.yml:3: `log_dir` must be a directory of its own, not `./`"),
    "git as log": (MINIMAL + "log_dir: .git/logs\n", "config.yml:3: `log_dir` must be a directory of its own, not `.git/logs`"),
    "interval": (MINIMAL + "stop_hook:\n  run_interval_minutes: 1\n", "config.yml:4: `stop_hook.run_interval_minutes` is ignored in a project: how often to run is each user's own choice"),
    "endless": ("a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d]\n", "the document unfolds without end"),
    "log elsewhere": (MINIMAL + "log_dir: /var/log\n", "config.yml:3: `log_dir` must be inside the project, not `/var/log`; `gauntlet_logs` is used instead"),
    "log above": (MINIMAL + "log_dir: ../logs\n", "config.yml:3: `log_dir` must be inside the project, not `../logs`"),
    "log at home": (MINIMAL + "log_dir: ~/logs\n", "config.yml:3: `log_dir` must be inside the project, not `~/logs`"),
    "definitions as log": (MINIMAL + "log_dir: .gauntlet/checks\n", "config.yml:3: `log_dir` must be a directory of its own, not `.gauntlet/checks`"),
    "endless number": (MINIMAL + "max_retries: 1e999\n", "config.yml:3: is not valid YAML: the number 1e999 is too large"),
    "long number": (MINIMAL + f"max_retries: {'9' * 5000}\n", "config.yml:3: is not valid YAML: a number has more than 40 characters"),
    "long fraction": (MINIMAL + f"max_retries: 0.{'0' * 5000}1\n", "config.yml:3: is not valid YAML: a number has more than 40 characters"),
    "too many retries": (MINIMAL + "max_retries: 100000000000000000000000000000\n", "config.yml:3: `max_retries` must be at most 1000, not 1e+29"),
    "too many archives": (MINIMAL + "max_previous_logs: 1e30\n", "config.yml:3: `max_previous_logs` must be at most 100, not 1e+30"),
    "deep list": (f"a: {'[' * 20_000}", "is not valid YAML: the document is nested more than 40 levels deep"),
    "deep mapping": (f"a: {'{a: ' * 10_000}", "is not valid YAML: the document is nested more than 40 levels deep"),
    "many anchors": ("a:\n" + "".join(f"  - &a{number} x\n" for number in range(30_000)), "is not valid YAML: it is longer than 65536 characters"),
    "many aliases": ("a: &a x\nb: [" + "*a," * 21_000 + "]\n", "is not valid YAML: the document unfolds without end"),
    "alias of itself": ("a: &a [*a]\n", "is not valid YAML: there is no anchor `a` before this alias"),
    "large": (MINIMAL + "#" * (1 << 21), "config.yml:1: cannot be read: it is larger than"),
    "wrong item": ("entry_points:\n  - path: .\n    checks:\n      - lint\n      - 3\n", "config.yml:5: `entry_points[0].checks` holds the number 3, not text"),
    "wrong entry": ("entry_points:\n  - path: .\n  - src\n", "config.yml:3: `entry_points[1]` must be a mapping, not the text `src`"),
    "wrong adapter": (MINIMAL + "cli:\n  adapters:\n    claude:\n      thinking_budget: huge\n", "config.yml:6: `cli.adapters.claude.thinking_budget` must be one of off, low, medium, high, not `huge`"),
    "two documents": (MINIMAL + "---\na: 1\n", "is not valid YAML"),
    "control character": (MINIMAL + "a: '\x01'\n", "is not valid YAML"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems_of_the_main_file(tmp_path, text, expected):
    """Every problem names its file and line and what is allowed."""
    found = said(load(tmp_path, **{".gauntlet/config.yml": text}))
    assert any(expected in line for line in found), found


GATE_PROBLEMS = {
    "no command": ("checks/a.yml", "timeout: 3\n", "a.yml:1: `command` is missing"),
    "empty file": ("checks/a.yml", "", "a.yml:1: `command` is missing"),
    "fail_fast": ("checks/a.yml", "command: x\nparallel: true\nfail_fast: true\n", "a.yml:3: `fail_fast` cannot be combined with `parallel: true`"),
    "two fixes": ("checks/a.yml", "command: x\nfix_with_skill: s\nfix_instructions_file: f\n", "a.yml:2: `fix_with_skill` and `fix_instructions_file` exclude each other"),
    "escaping": ("checks/a.yml", "command: x\nfix_instructions_file: ../../etc/passwd\n", "a.yml:2: `fix_instructions_file` must be inside .gauntlet/, not `../../etc/passwd`"),
    "absolute": ("checks/a.yml", "command: x\nfix_instructions_file: /etc/passwd\n", "a.yml:2: `fix_instructions_file` must be inside"),
    "old name": ("checks/a.yml", "command: x\nfix_instructions: f.md\n", "a.yml:2: `fix_instructions` is an old name"),
    "front line": ("reviews/a.md", "---\nmodel: x\nnum_reviews: 0\n---\nGo.\n", "a.md:3: `num_reviews` must be at least 1, not 0"),
    "no prompt": ("reviews/a.md", "---\nmodel: x\n---\n\n", "a.md:1: there is no prompt below the settings"),
    "stranger": ("reviews/a.md", "---\ncli_preference: [gemini]\n---\nGo.\n", "a.md:1: `cli_preference` names gemini, not in `cli.default_preference` (claude, codex)"),
    "no source": ("reviews/a.yml", "model: x\n", "a.yml:1: needs exactly one of `prompt_file`, `skill_name` and `builtin`"),
    "unknown builtin": ("reviews/a.yml", "builtin: magic\n", "a.yml:1: `builtin` must be one of code-quality"),
    "endless time": ("checks/a.yml", "command: x\ntimeout: 1e300\n", "a.yml:2: `timeout` must be at most 604800, not 1e+300"),
    "crowd": ("reviews/a.md", "---\nnum_reviews: 10000\n---\nGo.\n", "a.md:2: `num_reviews` must be at most 20, not 10000"),
    "null in a name": ("checks/a.yml", 'command: x\nfix_instructions_file: "a\\0b"\n', "a.yml:2: `fix_instructions_file` must be inside"),
    "binary": ("checks/a.yml", b"\xff\xfe\x00", "a.yml:1: is not UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), GATE_PROBLEMS.values(), ids=GATE_PROBLEMS)
def test_problems_of_gate_files(tmp_path, name, text, expected):
    """Gates are checked as closely as the main file."""
    found = said(load(tmp_path, **{".gauntlet/config.yml": CLI + MINIMAL, f".gauntlet/{name}": text}))
    assert any(expected in line for line in found), found


def test_what_is_wrong_is_left_out(tmp_path):
    """A wrong value costs itself: what stands beside it still counts, so that the hook of a broken project stays off."""
    entries = "entry_points:\n  - path: 3\n    checks: [1, 2]\n  - path: src\n"
    loaded = load(tmp_path, **{".gauntlet/config.yml": entries + "max_retries: x\nstop_hook:\n  enabled: false\n"})
    assert [problem.line for problem in loaded.errors] == [2, 3, 3, 5]
    assert (loaded.project.hook_enabled, loaded.project.max_retries) == (False, 3)
    assert [entry.path for entry in loaded.project.entry_points] == ["src"]


def test_schemas_name_every_key():
    """Editors are told the same keys and limits that the reader knows."""
    schema = json.loads((SCHEMAS / "gate.schema.json").read_text())
    assert set(schema["properties"]) == set(ConfigFile.model_fields)
    assert schema["required"] == ["entry_points"]
    assert schema["properties"]["max_retries"]["maximum"] == 1000


def test_same_review_twice(tmp_path):
    """A review may not be defined as Markdown and as YAML."""
    files = {".gauntlet/reviews/a.md": "Go.", ".gauntlet/reviews/a.yml": "builtin: security"}
    assert "defined twice" in said(load(tmp_path, **files))[0]


def test_reviews_need_a_program(tmp_path):
    """A project with reviews must say which programs may read its code; one without need not."""
    files = {".gauntlet/config.yml": MINIMAL + "    reviews: [a]\n", ".gauntlet/reviews/a.md": "Go."}
    assert "must list the reviewer programs" in said(load(tmp_path, **files))[0]


def test_project_is_found_from_below(tmp_path):
    """A hook fired in a sub-directory finds its project, and never one outside the repository."""
    load(tmp_path / "repo" / "part")
    write_files(tmp_path, {".gauntlet/config.yml": MINIMAL, "repo/part/a/b/x": ""})
    inside = str(tmp_path / "repo" / "part" / "a" / "b")
    assert find_project(inside, str(tmp_path / "repo")) == tmp_path / "repo" / "part"
    assert find_project(str(tmp_path / "repo"), str(tmp_path / "repo")) is None
    write_files(tmp_path, {"outside/.gauntlet/config.yml": MINIMAL})
    assert find_project(str(tmp_path / "outside"), str(tmp_path / "repo" / "part")) == tmp_path / "repo" / "part"
    (tmp_path / "repo" / "part" / "a" / ".git").mkdir()
    write_files(tmp_path, {"repo/part/a/b/.gauntlet/config.yml": MINIMAL})
    assert find_project(inside, str(tmp_path / "repo")) == tmp_path / "repo" / "part"
    assert find_project("/", str(tmp_path / "repo" / "part")) == tmp_path / "repo" / "part"


LINKED = {
    "main file": (".gauntlet/config.yml", "config.yml:1: is refused: it is a symbolic link"),
    "check": (".gauntlet/checks/a.yml", "a.yml:1: is refused: it is a symbolic link"),
    "prompt": (".gauntlet/prompts/p.md", "p.md:1: is refused: it is a symbolic link"),
    "directory": (".gauntlet/checks", "checks:1: is refused: it is a symbolic link"),
    "all": (".gauntlet", ".gauntlet:1: is refused: it is a symbolic link"),
}


@pytest.mark.parametrize(("name", "expected"), LINKED.values(), ids=LINKED)
@pytest.mark.parametrize("target", ["elsewhere", "/dev/zero", "nowhere"])
def test_linked_definitions(tmp_path, name, expected, target):
    """A definition that a checkout brings as a link is refused by name; where the link leads is not looked at."""
    write_files(tmp_path / "elsewhere", {"config.yml": MINIMAL, "a.yml": "command: x\n"})
    root = tmp_path / "repo"
    write_files(root, {".gauntlet/config.yml": MINIMAL} if name != ".gauntlet" else {"x": ""})
    link = root / name
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target if target.startswith("/") else tmp_path / target)
    assert said(load_project(root)) == [expected]


def test_links_that_lead_round(project):
    """Links that lead back into `.gauntlet/` are refused at once, whatever they multiply to."""
    for name in "xyz":
        (project.root / ".gauntlet" / name).symlink_to(".")
    project.write({"src/a": "1"})
    result = execute_run(project.context(), project.root)
    assert (result.status, "x:1: is refused: it is a symbolic link" in result.error) == ("error", True)


def test_too_many_definitions(tmp_path):
    """A directory with more files than any project has is refused, not read."""
    files = {f".gauntlet/checks/c{number}.yml": "command: x\n" for number in range(501)}
    assert said(load(tmp_path, **files)) == [".gauntlet:1: is refused: it holds more than 500 files"]


def test_pipe_among_definitions(tmp_path):
    """A pipe in the place of a definition is refused, not waited for."""
    (tmp_path / ".gauntlet" / "checks").mkdir(parents=True)
    os.mkfifo(tmp_path / ".gauntlet" / "checks" / "a.yml")
    assert said(load(tmp_path)) == ["a.yml:1: is refused: it is not a plain file"]


@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"#%@`, \n\t019.eE+\\?~", max_size=200))
def test_no_text_breaks_the_reader(text):
    """Whatever a file holds, reading it gives values or our own error."""
    with contextlib.suppress(BadYaml):
        yaml12.load(text)


def test_unreadable_file(tmp_path):
    """A directory in the place of the file is a problem, not a crash."""
    (tmp_path / ".gauntlet" / "config.yml").mkdir(parents=True)
    assert "cannot be read" in str(load_project(Path(tmp_path)).errors[0])


def test_a_key_that_is_too_long_is_a_listed_problem(tmp_path):
    """What only the reader that knows lines refuses is noted once, and raises nothing."""
    loaded = load(tmp_path, **{".gauntlet/config.yml": f"{MINIMAL}{'k' * 2000}: 1\n"})
    assert [line.partition(": ")[0] for line in said(loaded)].count("config.yml:3") >= 1
    assert sum("is not valid YAML" in line for line in said(loaded)) == 1
