"""Finds the context and the claim a command works on."""

from collections.abc import Mapping

from agent_sync import settings as settings_file
from agent_sync.cli.ending import call_at_end, say
from agent_sync.clients import agent_here, is_claude_code
from agent_sync.context import Context, context_at
from agent_sync.errors import AgentSyncError, BadClaim, BadConfig, HumansOnly, WrongState
from agent_sync.quiet import answer as quiet
from agent_sync.settings.approvals import held_back_line
from agent_sync.settings.problems import ignored_line
from agent_sync.task.claim.model import Claim
from agent_sync.worktree import Place, place_of

OWN_TERMINAL = "run it in a terminal of your own"


def place_here() -> Place:
    """Return the worktree the command was started in."""
    place = place_of([quiet.process_dir()], "")
    if place is None:
        raise WrongState("This is not a git repository.", helps="cd into the project, or run `git init`")
    return place


def context_here(*, keeps_record: bool = True) -> Context:
    """Return the context of the worktree the command was started in; one that only looks leaves the record alone."""
    context = context_at(place_here(), settings_file.environment(), cwd=quiet.process_dir())
    if context.unknown:
        say(f"warning: {ignored_line(context.unknown)}", is_note=True)
    if context.held_back:
        say(f"note: {held_back_line(context.held_back)}", is_note=True)
    if keeps_record:
        # Every command is an occasion to see what happened in git and to the claim meanwhile.
        call_at_end(lambda: _keep_record(context))
    return context


def _keep_record(context: Context) -> None:
    """Bring the recovery record up to date when the command has done its work; trouble is told at once."""
    if context.store.refusal or not context.may_have_record:
        # The command has said so already, or there is nothing to keep.
        return
    from agent_sync.events.parts.record import keep_record

    try:
        keep_record(context)
    except BadClaim:
        # The command itself says so.
        return
    except (AgentSyncError, OSError) as error:
        from agent_sync.task.decision.messages import RECORD_UNWRITTEN

        say(f"warning: {RECORD_UNWRITTEN}: {error}", is_note=True)


def is_session(context: Context) -> bool:
    """Tell whether the command runs inside a Claude Code session, whose stop hook does what is left."""
    return is_claude_code(context.environment)


def refuse_agent(environment: Mapping[str, str], may: str, *, attempted: str, helps: str = OWN_TERMINAL) -> None:
    """Stop a command that only a human may give where an agent gives it."""
    agent = agent_here(environment)
    if agent:
        raise HumansOnly(f"Only a human may {may}, and {agent} runs this command.", attempted=attempted, helps=helps)


# What a session may read, and a person at a terminal reads instead.
_AT_A_TERMINAL = {
    "Keep working; run `/handoff` when it is ready for a PR.": "When it is ready for a PR: agent-sync handoff",
    "; CI is watched while the session is idle": "",
    " is watched while the session is idle": " is open",
    " CI is watched while the session is idle; nothing is left to do now.": "",
    "when this turn ends": "by `agent-sync sync`",
    "; leave the merge to a human.": "; merge it when you are ready.",
    "a human decides with `/done` whether": "decide with `agent-sync done` whether",
    "`/done` says yes.": "If so: agent-sync done",
    "ask the human whether to continue.": "decide whether to continue.",
    "ask the human what becomes of the work.": "decide what becomes of the work.",
    "ask the human whether issue": "decide whether issue",
    "until a human has decided": "until you have decided",
    "Should I close issue": "Close issue",
    "A human has to look into it.": "Look into it.",
    "A human must act first:": "You must act first:",
    " Tell them, and do nothing else on this task until then.": "",
    "waits for a human's approval": "waits for your approval",
    "`/handoff`": "`agent-sync handoff`",
    "`/done`": "`agent-sync done`",
}


def for_reader(context: Context, text: str) -> str:
    """Return a sentence as its reader needs it: a person at a terminal is the human, and has no slash commands."""
    if agent_here(context.environment):
        return text
    for inside, outside in _AT_A_TERMINAL.items():
        text = text.replace(inside, outside)
    return text


def refuse_without_board(context: Context) -> None:
    """Stop a command that is about the board where none is configured."""
    if context.settings.project.number is None:
        raise BadConfig("No board is configured.", helps="agent-sync init, or project.number in .agent-sync.toml")


def claim_here(context: Context) -> Claim:
    """Return the claim held in this worktree, or say how to get one."""
    claim = context.store.read()
    if claim is None:
        from agent_sync.task.decision.next_step import next_step
        from agent_sync.task.situation_here import situation_of

        raise WrongState("No claim is held in this worktree.", helps=next_step(situation_of(context, None)).command)
    return claim
