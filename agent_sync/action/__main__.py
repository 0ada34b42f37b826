"""The Action's one step: `python -I -m agent_sync.action` reconciles all claims and shows the fleet."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_sync.action.inputs import Inputs, inputs_of
from agent_sync.action.markdown import LARGEST_ISSUE, LARGEST_SUMMARY, fleet_text, repairs_text
from agent_sync.action.pinned_issue import keep_issue
from agent_sync.action.repository import empty_repository, own_environment
from agent_sync.context import Context
from agent_sync.errors import AgentSyncError
from agent_sync.fleet.look import look
from agent_sync.fleet.projection import project
from agent_sync.system import clock
from agent_sync.system.masking import masked

_RECONCILE = [sys.executable, "-I", "-m", "agent_sync", "reconcile", "--all", "--json"]


def main() -> int:
    """Run the step; an error is one line that the run's page shows."""
    try:
        with _without_commands():
            return run(dict(os.environ))
    except AgentSyncError as error:
        _say(f"::error title=agent-sync::{_data(masked(str(error)))}")
        return int(error.exit_status)


def run(environment: Mapping[str, str]) -> int:
    """Reconcile, then show the fleet as it is afterwards."""
    inputs = inputs_of(environment)
    own = own_environment(inputs, environment)
    with empty_repository(inputs, own) as context:
        asked = [*_RECONCILE, *(["--dry-run"] if inputs.is_dry_run else [])]
        done = subprocess.run(asked, cwd=context.place.root, env=own, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            _say("agent-sync reconcile --all failed: see above.")
            return done.returncode
        _show(context, inputs, json.loads(done.stdout))
    return 0


def _show(context: Context, inputs: Inputs, values: dict[str, Any]) -> None:
    repairs = repairs_text(values, inputs.address)
    _say(repairs)
    view = project(look(context), clock.now())
    if inputs.summary_file:
        fleet = fleet_text(view, inputs.address, largest=LARGEST_SUMMARY - len(repairs.encode()))
        with Path(inputs.summary_file).open("a", encoding="utf-8") as file:
            file.write(masked(f"## agent-sync: {inputs.repository}\n\n{repairs}\n{fleet}"))
    if inputs.pinned_issue:
        _keep_pinned(context, inputs, inputs.pinned_issue, fleet_text(view, inputs.address, largest=LARGEST_ISSUE))


def _keep_pinned(context: Context, inputs: Inputs, issue: int, text: str) -> None:
    if inputs.is_dry_run:
        _say(f"Issue #{issue} would be brought up to date.")
        return
    said = "was brought up to date" if keep_issue(context.gateway, issue, text) else "is up to date"
    _say(f"Issue #{issue} {said}.")


@contextmanager
def _without_commands() -> Iterator[None]:
    """Keep the runner from obeying what is printed: a title may look like a command of a workflow."""
    word = secrets.token_hex(16)
    _say(f"::stop-commands::{word}")
    try:
        yield
    finally:
        sys.stderr.flush()
        _say(f"::{word}::")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
