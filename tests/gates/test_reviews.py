"""Reviews from first look to last, with small programs in the place of reviewers."""

import json
import shutil
import subprocess
from typing import ClassVar

import pytest
from support.gauntlet import GatedProject, write_files
from support.prove import PROVE
from support.reviewers import Reviewer, failing, finding

from agent_sync.gates.plan.plan import Scope
from agent_sync.gates.plan.prepare import RunOptions
from agent_sync.gates.reviews.findings import read_answer
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.status import Status

CONFIG = "cli:\n  default_preference: [claude, codex]\nentry_points:\n  - path: src\n    reviews: [quality]\n"
PROMPT = "Look well.\n"


@pytest.fixture
def claude(tmp_path):
    """The first reviewer on PATH."""
    return Reviewer(tmp_path / "reviewers", "claude")


@pytest.fixture
def project(repo, claude):
    """A project with one review and one changed file."""
    return reviewed(repo, claude)


def reviewed(root, reviewer):
    write_files(root, {".gauntlet/reviews/quality.md": PROMPT})
    project = GatedProject(root, CONFIG)
    project.write({"src/a": "one\ntwo\nthree\n"})
    project.path = f"{reviewer.bin}:/usr/bin:/bin"
    return project


def run(project, **variables):
    return execute_run(project.context(PATH=project.path, **variables), project.root)


def newest(project, pattern="review_*.json"):
    files = (project.root / "gauntlet_logs").glob(pattern)
    return max(files, key=lambda path: int(path.name.split(".")[-2]))


def stored(project, pattern="review_*.json"):
    return json.loads(newest(project, pattern).read_text())


def decide(project, status, result="because", pattern="review_*.json"):
    """Do what an agent does with its findings."""
    file = newest(project, pattern)
    values = json.loads(file.read_text())
    for one in values["violations"]:
        one |= {"status": status, "result": result}
    file.write_text(json.dumps(values))


class TestFirstLook:
    """A review that has not run yet."""

    def test_pass(self, project, claude):
        """A reviewer with nothing to say passes; it saw prompt, rules and diff on its standard input."""
        assert run(project).status is Status.PASSED
        (asked,) = claude.asked
        prompt = asked["prompt"]
        assert prompt.startswith("Look well.")
        assert prompt.index("Look well.") < prompt.index("one JSON object") < prompt.index("--- DIFF ---")
        assert "+three" in prompt
        assert asked["cwd"] == str(project.root)

    def test_fail(self, project, claude):
        """Findings fail the gate and are kept where the agent decides about them."""
        claude.answers(failing(finding(2, fix="Do not.")))
        result = run(project)
        assert (result.status, result.results[0].message) == (Status.FAILED, "1 finding")
        file = project.root / "gauntlet_logs" / "review_src_quality_claude@1.1.json"
        assert result.results[0].findings == (file,)
        values = json.loads(file.read_text())
        assert (values["adapter"], values["status"]) == ("claude", "fail")
        assert values["violations"] == [
            {
                "file": "src/a",
                "line": 2,
                "issue": "This divides by zero",
                "fix": "Do not.",
                "priority": "high",
                "status": "new",
                "result": "",
            }
        ]
        assert f"Review: {file}" in (project.root / "gauntlet_logs" / "console.1.log").read_text()
        assert file.with_suffix(".log").exists()

    def test_nested_and_without_hooks(self, project, claude):
        """A reviewer is marked as nested, is no part of the outer session, and runs no hooks of its own."""
        run(project, CLAUDECODE="1", CLAUDE_PROJECT_DIR="/x")
        (asked,) = claude.asked
        environment = asked["environment"]
        assert (environment["AGENT_SYNC_NESTED"], environment["GAUNTLET_STOP_HOOK_ACTIVE"]) == ("1", "1")
        assert "CLAUDECODE" not in environment
        assert "CLAUDE_PROJECT_DIR" not in environment
        assert '{"disableAllHooks": true}' in asked["arguments"]

    def test_only_changed_lines_count(self, project, claude):
        """What a reviewer says about lines nobody touched is not held against the work."""
        claude.answers(failing(finding(99), finding(1, file="README")))
        assert run(project).status is Status.PASSED

    def test_scoped_to_the_entry_point(self, project, claude):
        """A reviewer sees its own part of the project only."""
        project.write({"docs/secret": "elsewhere\n"})
        run(project)
        assert "elsewhere" not in claude.asked[0]["prompt"]

    def test_names_of_files(self, project, claude):
        """A reviewer may write a path in the usual ways."""
        names = ("./src/a", "b/src/a", f"{project.root}/src/a")
        claude.answers(failing(*(finding(number, file=name) for number, name in enumerate(names, 1))))
        assert run(project).status is Status.FAILED
        assert [one["file"] for one in stored(project)["violations"]] == ["src/a"] * len(names)

    def test_deleted_part(self, project, claude):
        """A deletion can be reviewed."""
        project.commit()
        project.git("branch", "-f", "main")
        (project.root / "src" / "a").unlink()
        assert run(project).status is Status.PASSED
        assert "-three" in claude.asked[0]["prompt"]


class TestAnswers:
    """What a reviewer may say."""

    # Each with whether it says that the work passes; None is no answer.
    ROWS: ClassVar = {
        "plain": ('{"status": "pass"}', True),
        "fenced": ('Well:\n```json\n{"status": "pass"}\n```\nBye', True),
        "words around": ('I think {so} that {"status": "pass", "message": "fine"} holds', True),
        "last one counts": ('{"status": "fail", "violations": []} then {"status": "pass"}', True),
        "braces in text": ('{"status": "pass", "message": "use {} and }"}', True),
        "fenced failure": ("```\n" + json.dumps(failing()) + "\n```", False),
        "nonsense": ("I could not do it.", None),
        "nothing": ("", None),
        "failure without findings": ('{"status": "fail"}', None),
        "unknown status": ('{"status": "maybe"}', None),
        "deep nonsense": ("[" * 50_000, None),
        "misshapen findings": ('{"status": "fail", "violations": [3, {"line": 1}]}', None),
    }
    STATUSES: ClassVar = {True: Status.PASSED, False: Status.FAILED, None: Status.INFRASTRUCTURE_ERROR}

    @pytest.mark.parametrize(("answer", "passes"), ROWS.values(), ids=ROWS)
    def test_answer(self, answer, passes):
        """An answer is found wherever it stands."""
        found = read_answer(answer)
        assert (found.passed if found else None) is passes

    @pytest.mark.parametrize("name", ROWS if PROVE else ["words around", "fenced failure", "deep nonsense"])
    def test_status_of_an_answer(self, project, claude, name):
        """What was found decides; no answer at all is infrastructure, not a finding."""
        answer, passes = self.ROWS[name]
        claude.answers(answer)
        assert run(project).status is self.STATUSES[passes]

    def test_crash(self, project, claude):
        """A reviewer that fails says nothing about the work."""
        claude.answers({"stdout": "", "stderr": "boom", "status": 3})
        result = run(project)
        assert (result.status, "ended with exit code 3" in result.message) == (Status.INFRASTRUCTURE_ERROR, True)
        assert "boom" in newest(project, "review_*.log").read_text()

    def test_noise_on_stderr(self, project, claude):
        """What a reviewer complains about does not spoil its answer."""
        claude.answers({"stdout": '{"status": "pass"}', "stderr": '{"status": "fail", "violations": [1]}'})
        assert run(project).status is Status.PASSED

    def test_time_limit(self, project, claude):
        """A reviewer that takes too long is infrastructure."""
        (claude.bin / "claude").write_text("#!/bin/sh\nsleep 60\n")
        project.write({".gauntlet/reviews/quality.md": "---\ntimeout: 0.3\n---\nGo.\n"})
        result = run(project)
        assert (result.status, "took longer than" in result.message) == (Status.INFRASTRUCTURE_ERROR, True)

    def test_unparsable_answer_does_not_pass_later(self, project, claude):
        """After an answer that could not be read the whole work is still to be looked at."""
        claude.answers("nonsense")
        assert run(project).status is Status.INFRASTRUCTURE_ERROR
        claude.answers(failing())
        assert run(project).status is Status.FAILED
        claude.answers("nonsense")
        run(project)
        claude.answers({"status": "pass"})
        assert run(project).status is Status.FAILED


class TestReviewers:
    """Which programs are asked, and how."""

    def test_none_installed(self, project):
        """Without a reviewer the review cannot run, which is infrastructure."""
        project.path = "/usr/bin:/bin"
        result = run(project)
        assert result.status is Status.INFRASTRUCTURE_ERROR
        assert "no reviewer can be asked (wanted: claude, codex)" in result.message

    def test_next_in_preference(self, project, claude, tmp_path):
        """The first that is installed is asked."""
        codex = Reviewer(tmp_path / "reviewers", "codex")
        (claude.bin / "claude").unlink()
        assert run(project).status is Status.PASSED
        assert codex.asked[0]["arguments"][:3] == ["exec", "--cd", str(project.root)]

    def test_used_up(self, project, claude, tmp_path):
        """A reviewer that says it is used up is left alone for an hour, and the next one is asked."""
        codex = Reviewer(tmp_path / "reviewers", "codex")
        claude.answers({"stdout": "You have hit your limit: usage limit reached", "status": 1})
        assert run(project).status is Status.INFRASTRUCTURE_ERROR
        state = json.loads((project.root / "gauntlet_logs" / ".execution_state").read_text())
        assert "claude" in state["unhealthy_adapters"]
        assert run(project).status is Status.PASSED
        assert len(codex.asked) == 1
        state["unhealthy_adapters"]["claude"]["marked_at"] = "2020-01-01T00:00:00Z"
        (project.root / "gauntlet_logs" / ".execution_state").write_text(json.dumps(state))
        project.write({"src/a": "changed\n"})
        claude.answers({"status": "pass"})
        run(project)
        assert len(claude.asked) == 1

    def test_slots(self, project, tmp_path):
        """With num_reviews more than one reviewer looks, in turns over those installed."""
        codex = Reviewer(tmp_path / "reviewers", "codex")
        project.write({".gauntlet/reviews/quality.md": "---\nnum_reviews: 3\n---\nGo.\n"})
        codex.answers(failing())
        assert run(project).status is Status.FAILED
        names = sorted(path.name for path in (project.root / "gauntlet_logs").glob("review_*.json"))
        assert names == [
            f"review_src_quality_{name}@{slot}.1.json" for name, slot in (("claude", 1), ("claude", 3), ("codex", 2))
        ]

    def test_slots_one_after_the_other(self, project, claude):
        """Slots need not run side by side."""
        project.write({".gauntlet/reviews/quality.md": "---\nnum_reviews: 2\nparallel: false\n---\nGo.\n"})
        assert run(project).status is Status.PASSED
        assert len(claude.asked) == 2

    ARGUMENTS: ClassVar = {
        "claude": ("claude", ["--allowedTools", "Read,Glob,Grep,Task", "--model", "m"]),
        "codex": ("codex", ["--sandbox", "read-only"]),
        "gemini": ("gemini", ["--sandbox"]),
        "cursor": ("agent", ["--trust"]),
        "github-copilot": ("copilot", ["--allow-tool", "shell(cat)"]),
        "copilot": ("copilot", ["--allow-tool", "shell(cat)"]),
    }

    def test_every_adapter(self, project, tmp_path):
        """Each program is started its own way, with the model a review names."""
        entries = CONFIG.split("entry_points:\n")[1]
        for name, (binary, expected) in self.ARGUMENTS.items():
            reviewer = Reviewer(tmp_path / name, binary)
            project.path = f"{reviewer.bin}:/usr/bin:/bin"
            preference = f"cli:\n  default_preference: [{name}]\nentry_points:\n"
            project.write(
                {
                    ".gauntlet/config.yml": "base_branch: main\n" + preference + entries,
                    ".gauntlet/reviews/quality.md": "---\nmodel: m\n---\nGo.\n",
                }
            )
            assert run(project).status is Status.PASSED, name
            arguments = reviewer.asked[0]["arguments"]
            at = arguments.index(expected[0])
            assert arguments[at : at + len(expected)] == expected, name
            assert arguments[arguments.index("--model") + 1] == "m", name

    def test_options_of_an_adapter(self, project, claude):
        """Tools can be taken away and thinking can be limited."""
        options = "cli:\n  default_preference: [claude]\n  adapters:\n    claude: {allow_tool_use: false, thinking_budget: low}\n"
        project.write({".gauntlet/config.yml": "base_branch: main\n" + options + CONFIG.split("codex]\n")[1]})
        run(project)
        (asked,) = claude.asked
        assert "--allowedTools" not in asked["arguments"]
        assert asked["environment"]["MAX_THINKING_TOKENS"] == "8000"


@pytest.fixture(scope="module")
def made():
    """Keep what is made once for all who ask."""
    return {}


class TestSecondLook:
    """After findings."""

    @pytest.fixture
    def failed(self, made, tmp_path_factory):
        """A project with one finding in line 2: it is put back as it was for each test."""
        if not made:
            here = tmp_path_factory.mktemp("failed")
            subprocess.run(["git", "init", "-q", "-b", "main", str(here / "repo")], check=True)
            claude = Reviewer(here / "reviewers", "claude")
            claude.answers(failing(finding(2)))
            project = reviewed(here / "repo", claude)
            run(project)
            claude.answers({"status": "pass"})
            project.claude = claude
            made |= {"project": project, "here": here, "kept": here.rename(here.with_name(f"{here.name}-kept"))}
        shutil.rmtree(made["here"], ignore_errors=True)
        shutil.copytree(made["kept"], made["here"], symlinks=True)
        return made["project"]

    @pytest.fixture
    def claude(self, failed):
        """The reviewer of that project."""
        return failed.claude

    def test_nothing_changed_nothing_passes(self, failed, claude):
        """Open findings stay open while nothing changes, without asking anybody again."""
        assert run(failed).status is Status.FAILED
        assert (claude.asked, len(stored(failed)["violations"])) == ([], 1)

    def test_fixed(self, failed, claude):
        """A fix is verified: the reviewer sees what changed and what was said to be fixed."""
        decide(failed, "fixed", "guarded it")
        failed.write({"src/a": "one\nguarded\nthree\n"})
        assert run(failed).status is Status.PASSED
        prompt = claude.asked[0]["prompt"]
        assert "Said to be fixed:\n- src/a:2 This divides by zero (guarded it)" in prompt
        assert "+guarded" in prompt
        assert "+three" not in prompt

    def test_said_to_be_fixed_but_is_not(self, failed, claude):
        """A finding repeated at its old line counts although that line did not change."""
        decide(failed, "fixed")
        failed.write({"src/a": "one\ntwo\nthree\nfour\n"})
        claude.answers(failing(finding(2)))
        assert run(failed).status is Status.FAILED

    def test_said_to_be_fixed_and_moved(self, failed, claude):
        """A finding repeated in other words or at another line is the same finding."""
        decide(failed, "fixed")
        failed.write({"src/a": "zero\none\ntwo\nthree\n"})
        claude.answers(failing(finding(3, issue="This still divides by zero")))
        assert run(failed).status is Status.FAILED

    def test_said_to_be_fixed_without_a_change(self, failed, claude):
        """Where nothing changed the whole work is looked at again."""
        decide(failed, "fixed")
        assert run(failed).status is Status.PASSED
        assert "+three" in claude.asked[0]["prompt"]

    def test_skipped(self, failed, claude):
        """Skipping everything passes with warnings, which keep the reason, and nobody is asked again."""
        decide(failed, "skipped", "intended")
        result = run(failed)
        assert (result.status, claude.asked) == (Status.PASSED_WITH_WARNINGS, [])
        assert result.warnings == ("src/a:2 This divides by zero (intended)",)
        assert run(failed).status is Status.PASSED_WITH_WARNINGS

    def test_skipped_and_repeated(self, failed, claude):
        """A reviewer that insists on what was skipped is not heard."""
        decide(failed, "skipped")
        failed.write({"src/a": "one\ntwo\nthree\nfour\n"})
        claude.answers(failing(finding(2)))
        assert run(failed).status is Status.PASSED_WITH_WARNINGS

    def test_skipped_in_an_earlier_run(self, failed, claude):
        """What was skipped once is still a warning when the rest was fixed later."""
        decide(failed, "skipped", "intended")
        claude.answers(failing(finding(4, issue="Something else entirely")))
        failed.write({"src/a": "one\ntwo\nthree\nfour\n"})
        assert run(failed).status is Status.FAILED
        decide(failed, "fixed")
        failed.write({"src/a": "one\ntwo\nthree\nfive\n"})
        claude.answers({"status": "pass"})
        result = run(failed)
        assert (result.status, len(result.warnings)) == (Status.PASSED_WITH_WARNINGS, 1)

    def test_unknown_decision(self, failed):
        """A word we do not know decides nothing."""
        decide(failed, "ignored")
        assert run(failed).status is Status.FAILED

    def test_open_in_an_unchanged_file(self, failed, claude):
        """Silence about a finding whose file nobody touched resolves nothing."""
        failed.write({"src/b": "new\n"})
        assert run(failed).status is Status.FAILED
        assert "Not addressed yet:\n- src/a:2" in claude.asked[0]["prompt"]

    def test_new_findings_in_a_rerun(self, failed, claude):
        """New findings count from the project's threshold on, in the newest changes only."""
        decide(failed, "fixed")
        failed.write({"src/a": "one\nfixed\nmore\nthree\n"})
        claude.answers(
            failing(finding(3, issue="Trifle", priority="low"), finding(4, issue="An old line", priority="critical"))
        )
        assert run(failed).status is Status.PASSED

    def test_regression_in_a_rerun(self, failed, claude):
        """A new finding in the newest changes fails the gate."""
        decide(failed, "fixed")
        failed.write({"src/a": "one\nfixed\nthree\n"})
        claude.answers(failing(finding(2, issue="A regression", priority="critical")))
        assert run(failed).status is Status.FAILED

    def test_committing_changes_nothing(self, failed):
        """A commit is no answer to a finding."""
        failed.commit()
        assert run(failed).status is Status.FAILED

    def test_deleted_findings(self, failed, claude):
        """Without its findings a review starts over with the whole work."""
        newest(failed).unlink()
        claude.answers(failing())
        assert run(failed).status is Status.FAILED
        assert "+three" in claude.asked[0]["prompt"]

    def test_edited_status(self, failed):
        """A file that says `pass` with open findings in it has not passed."""
        file = newest(failed)
        file.write_text(file.read_text().replace('"status": "fail"', '"status": "pass"'))
        assert run(failed).status is Status.FAILED

    def test_edited_findings(self, failed):
        """Findings that were taken out of the file, or put into other words, are still open."""
        file = newest(failed)
        values = json.loads(file.read_text())
        file.write_text(json.dumps(values | {"status": "pass", "violations": []}))
        assert run(failed).status is Status.FAILED
        decide(failed, "skipped")
        file = newest(failed)
        file.write_text(file.read_text().replace("divides", "multiplies"))
        assert run(failed).status is Status.FAILED


class TestLaterLooks:
    """What counts in another look, and who is asked."""

    def test_forged_pass(self, project, claude):
        """A file no run of ours has written passes nothing."""
        claude.answers(failing())
        values = {
            "adapter": "claude",
            "status": "pass",
            "violations": [],
            "tree": project.git("rev-parse", "HEAD^{tree}"),
        }
        project.write({"gauntlet_logs/review_src_quality_claude@1.1.json": json.dumps(values)})
        assert run(project).status is Status.FAILED

    def test_passed_slots_are_spared(self, project, claude, tmp_path):
        """A reviewer with nothing to say is not asked again while another one looks at the newest changes."""
        codex = Reviewer(tmp_path / "reviewers", "codex")
        project.write({".gauntlet/reviews/quality.md": "---\nnum_reviews: 2\n---\nGo.\n"})
        codex.answers(failing())
        run(project)
        decide(project, "fixed", pattern="review_*codex*.json")
        claude.answers({"status": "pass"})
        codex.answers({"status": "pass"})
        project.write({"src/a": "fixed\n"})
        assert run(project).status is Status.PASSED
        assert (len(claude.asked), len(codex.asked)) == (0, 1)
        values = json.loads((project.root / "gauntlet_logs/previous/review_src_quality_claude@1.2.json").read_text())
        assert (values["status"], values["passIteration"]) == ("skipped_prior_pass", 1)

    def test_one_passed_slot_looks_at_new_changes(self, project, claude):
        """Where all reviewers had passed and something else failed, one of them looks at what came since."""
        project.write(
            {
                ".gauntlet/reviews/quality.md": "---\nnum_reviews: 2\n---\nGo.\n",
                ".gauntlet/config.yml": "base_branch: main\n" + CONFIG + "    checks: [c]\n",
                ".gauntlet/checks/c.yml": "command: exit 1\n",
            }
        )
        run(project)
        claude.answers({"status": "pass"})
        project.write({"src/a": "newer\n", ".gauntlet/checks/c.yml": "command: 'true'\n"})
        assert run(project).status is Status.PASSED
        assert len(claude.asked) == 1


def test_reviews_only(project, claude):
    """A run of reviews alone exits by its findings and is no pass of the work."""
    claude.answers(failing())
    options = RunOptions(scope=Scope(frozenset({"review"})))
    assert execute_run(project.context(PATH=project.path), project.root, options).status is Status.FAILED
    assert newest(project).exists()
