"""Hooks with nothing to do, run from the built wheel, over a bare interpreter of the same environment."""

import json
import time
import venv
from functools import partial
from pathlib import Path

from benchmarks import ROOT
from benchmarks.figures import Row, Unit, multiple, multiples_row
from benchmarks.recorded import RIVAL, SCRIPT
from benchmarks.turns import AGENT_SYNC, BARE, Effort, in_turns, plain_environment, run, seconds

SECTION = "Hooks with nothing to do, from the built wheel"
BARE_NAME, AT_MOST = "python -c pass", 1.1
# Not hooks of ours, but what they are made to avoid.
UNLIMITED = ("python -c 'import json'", "python -m agent_sync, no claim file")
CLAIM = {
    "schema_version": 1, "item_id": "PVTI_1", "issue_number": 42, "branch": "claude/x-42", "agent_id": "octo-1",
    "phase": "coding", "summary": "", "status": "In Progress", "pr_number": None, "last_check_poll": None,
    "last_synced_status": "In Progress",
}  # fmt: skip
GATE = {
    ".gauntlet/config.yml": "base_branch: main\nentry_points:\n  - path: .\n    checks: [ok]\n",
    ".gauntlet/checks/ok.yml": "command: 'true'\n",
    ".gitignore": "gauntlet_logs\n",
}
# A stamp is not left for files that were changed a moment ago.
SETTLED_S = 0.2


def quiet_rows(scratch: Path, effort: Effort) -> list[Row]:
    """Measure every quiet way out."""
    environment = plain_environment(scratch)
    programs = installed(scratch, environment)
    times = in_turns(_cases(programs, scratch, environment), effort.quiet)
    base = times.pop(BARE_NAME)
    found = {name: multiple(taken, base) for name, taken in times.items()}
    return [
        multiples_row(
            SECTION,
            name,
            Unit.BARE,
            {"": one},
            script=(SCRIPT.one("quiet", name),),
            rival=(RIVAL.one("quiet", name),),
            at_most=(None if name in UNLIMITED else AT_MOST,),
        )
        for name, one in found.items()
    ]


def _cases(programs: Path, scratch: Path, environment: dict[str, str]) -> dict[str, partial[float]]:
    empty, coding, gate = (scratch / name for name in ("empty", "coding", "gated"))
    settled(empty, environment, {})
    settled(coding, environment, {".agent-claim.json": json.dumps(CLAIM)})
    settled(gate, environment, GATE)
    command, python = str(programs / "agent-sync"), str(programs / "python")
    stop, stop_hook = [command, "on-stop"], [command, "gauntlet", "stop-hook"]
    active = json.dumps({"cwd": str(gate), "stop_hook_active": True})
    timed = partial(partial, seconds, environment=environment)
    return {
        BARE_NAME: timed([python, *BARE[1:]], empty),
        "on-stop, no claim file": timed(stop, empty),
        "on-stop, quiet coding claim": timed(stop, coding),
        "on-stop, gate inside its interval": timed(stop, gate),
        "gauntlet stop-hook, no config": timed(stop_hook, empty),
        "gauntlet stop-hook, active flag": timed(stop_hook, gate, stdin=active),
        "gauntlet stop-hook, inside interval": timed(stop_hook, gate),
        "python -c 'import json'": timed([python, "-c", "import json"], empty),
        "python -m agent_sync, no claim file": timed([python, "-m", "agent_sync", "on-stop"], empty),
    }


def installed(directory: Path, environment: dict[str, str]) -> Path:
    """Build the wheel, install it alone into a fresh environment, and return that environment's programs."""
    wheel = [BARE[0], "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*wheel, "--wheel-dir", directory, ROOT, cwd=directory, environment=environment)
    venv.create(directory / "venv", with_pip=True)
    programs, built = directory / "venv" / "bin", next(directory.glob("*.whl"))
    install: list[str | Path] = [programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", built]
    run(*install, cwd=directory, environment=environment)
    return programs


def settled(directory: Path, environment: dict[str, str], files: dict[str, str]) -> None:
    """Make a repository in which full runs have just found nothing to do, and a gate, if there is one, has passed."""
    directory.mkdir()
    run("git", "init", "-q", "-b", "main", cwd=directory, environment=environment)
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    if files is GATE:
        run("git", "add", "-A", cwd=directory, environment=environment)
        run("git", "commit", "-qm", "x", cwd=directory, environment=environment)
        (directory / "changed.txt").write_text("x", encoding="utf-8")
    for _ in range(3):
        time.sleep(SETTLED_S)
        run(AGENT_SYNC, "on-stop", cwd=directory, environment=environment, stdin="{}")
        if files is GATE:
            run(AGENT_SYNC, "gauntlet", "stop-hook", cwd=directory, environment=environment, stdin="{}")
