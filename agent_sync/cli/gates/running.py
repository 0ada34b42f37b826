"""Runs gates for a command, and says how they came out; without click, which takes as long to load as the rest."""

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agent_sync.cli.ending import say
from agent_sync.cli.gates.progress import listener
from agent_sync.cli.here import context_here
from agent_sync.errors import BadUsage, Exit, WrongState
from agent_sync.gates.config.project import find_project
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.plan import Scope
from agent_sync.gates.plan.prepare import RunOptions, session_of
from agent_sync.gates.run.execute import execute_run
from agent_sync.gates.run.report import summary
from agent_sync.gates.run.results import RunResult
from agent_sync.gates.status import exit_status
from agent_sync.quiet.answer import process_dir

# The options of `gate run` where none is given.
NO_OPTIONS = {"base": "", "commit": "", "uncommitted": False, "gate": "", "again": False, "as_json": False}


def run_all() -> Exit:
    """Run all gates on what changed."""
    return run_gates(Scope(), NO_OPTIONS)


def run_gates(scope: Scope, options: Mapping[str, Any]) -> Exit:
    """Run gates, say how they came out, and return the exit status that says it to programs."""
    context = context_here()
    root = find_project(process_dir(), context.place.root)
    if root is None:
        raise WrongState("There is no .gauntlet/config.yml here.", helps="agent-sync gate init")
    wanted = WantedChanges(options["base"], options["commit"], options["uncommitted"])
    if wanted.commit and wanted.uncommitted:
        raise BadUsage("Use either --commit or --uncommitted.", helps="agent-sync gate run --help")
    chosen = replace(scope, gate=options["gate"])
    run_options = RunOptions(wanted, chosen, again=options["again"], session=session_of(context))
    with listener(is_silent=options["as_json"], is_terminal=sys.stdout.isatty()) as ears:
        result = execute_run(context, root, run_options, ears)
    _print_result(result, root, as_json=options["as_json"])
    return exit_status(result.status)


def _print_result(result: RunResult, root: Path, *, as_json: bool) -> None:
    if as_json:
        import json

        values = asdict(result) | {"project": str(root)}
        say(json.dumps(values, default=str))
    elif not result.results or result.unchanged_since:
        # A run with gates has said its summary already, as the last part of its console log.
        for line in summary(result):
            say(line)
