"""Says what changed and which gates would run; without click, which takes as long to load as the rest."""

from agent_sync.cli.ending import say
from agent_sync.cli.here import context_here
from agent_sync.context import Context
from agent_sync.errors import WrongState
from agent_sync.gates.config.model import LoadedProject
from agent_sync.gates.config.project import find_project, load_project
from agent_sync.gates.plan.changes import WantedChanges
from agent_sync.gates.plan.foreseen import foresee
from agent_sync.gates.plan.plan import gate_name
from agent_sync.quiet.answer import process_dir

ALL_OF_THE_WORK = WantedChanges()


def project_here() -> tuple[Context, LoadedProject]:
    """Return the project the command was started in, as far as it could be read."""
    context = context_here()
    root = find_project(process_dir(), context.place.root)
    if root is None:
        raise WrongState("There is no .gauntlet/config.yml here.", helps="agent-sync gate init")
    return context, load_project(root)


def show_changes(wanted: WantedChanges = ALL_OF_THE_WORK, *, as_json: bool = False) -> None:
    """Print the changed files, and the gates that would run on them."""
    context, loaded = project_here()
    if loaded.errors:
        raise WrongState(str(loaded.errors[0]), helps="agent-sync gate validate")
    found = foresee(context, loaded.project, wanted)
    plan = found.plan
    if as_json:
        import json

        jobs = [job.id for job in plan.jobs]
        skipped = {one.id: one.reason for one in plan.skipped}
        say(json.dumps({"files": list(found.files), "gates": jobs, "skipped": skipped}))
        return
    # In one piece: there can be very many.
    listed = (f"  {name}\n" if name.isprintable() else f"  {name!r}\n" for name in found.files)
    say("".join(listed), end="")
    say(f"{len(found.files)} files differ from {found.base.name}; {len(plan.jobs)} gates would run:")
    for job in plan.jobs:
        say(f"  {gate_name(job.id)}")
    for one in plan.skipped:
        say(f"  {gate_name(one.id)}: skipped ({one.reason})")
    if found.base.note:
        say(found.base.note, is_note=True)
