"""The table of commands: where each one is, what it does in one line, and its section of the help."""

# Name → module (with its attribute, if not `command`) and one line for the help: listing commands loads none of them.
COMMANDS = {
    "claim": ("agent_sync.cli.task.claim", "Claim a task: lease, branch, claim file, board, assignment."),
    "status": ("agent_sync.cli.task.status", "Show claim, branch, PR, CI, issue and card side by side."),
    "handoff": ("agent_sync.cli.task.handoff", "Hand finished work over for a pull request."),
    "done": ("agent_sync.cli.task.done", "Agree to close the issue (for humans)."),
    "release": ("agent_sync.cli.task.release", "Give the task back."),
    "push": ("agent_sync.cli.task.push", "Push the claim's branch, fast-forward only."),
    "sync": ("agent_sync.cli.task.sync", "Check GitHub now and do what is due."),
    "explain": ("agent_sync.cli.task.explain", "Say why a task does not move, who must act, and what happens next."),
    "reconcile": (
        "agent_sync.cli.task.reconcile",
        "Compare git, PR, CI, issue, card, lease and record; repair what is ours.",
    ),
    "review": ("agent_sync.cli.task.review", "Show, answer and resolve what reviewers said on the PR."),
    "watch": ("agent_sync.cli.fleet.watch", "Show every task live, and look after those without a session."),
    "next": ("agent_sync.cli.task.next", "List the tasks that are ready to claim."),
    "board": ("agent_sync.cli.task.board", "Show the board in columns."),
    "ui": ("agent_sync.cli.fleet.ui", "Show the fleet in the browser."),
    "log": ("agent_sync.cli.task.log", "Show what agent-sync did here, newest last."),
    "gate": ("agent_sync.cli.gates.gauntlet", "Run, inspect and set up the quality gates."),
    "validate": ("agent_sync.cli.record.validate", "Run a check or the gates, and sign a receipt for it."),
    "record": ("agent_sync.cli.record.hook", "Inspect, verify, recover and export a task's recovery record."),
    "resume": ("agent_sync.cli.record.resume", "Resume a task, even after a crash."),
    "start": ("agent_sync.cli.record.start", "Start a task that is not on GitHub."),
    "step": ("agent_sync.cli.record.step", "Report progress on the current step: start, output, done, fail."),
    "checkpoint": ("agent_sync.cli.record.checkpoint", "Save a checkpoint of the current step."),
    "approve": ("agent_sync.cli.record.decision:approve", "Approve a step that waits for a human."),
    "reject": ("agent_sync.cli.record.decision:reject", "Send back a step that waits for a human."),
    "abandon": ("agent_sync.cli.record.decision:abandon", "Give up a recorded task."),
    "cleanup": ("agent_sync.cli.record.cleanup", "Delete the records of tasks that ended long ago."),
    "workspace": ("agent_sync.cli.record.workspace", "List and destroy the records of all clones."),
    "worker": ("agent_sync.cli.work.worker", "Assign work to workers; take it, pause it, give its result."),
    "ledger": ("agent_sync.cli.work.ledger", "List tasks, convoys and evidence from the work hooks' history."),
    "init": ("agent_sync.cli.setup.init", "Set up a repository: hooks, command pages, settings."),
    "doctor": ("agent_sync.cli.setup.doctor", "Check the whole set-up, one line per check."),
    "config": ("agent_sync.cli.setup.config", "List, read and change settings."),
    "trust": ("agent_sync.cli.setup.trust", "Approve what this repository's files ask for."),
    "uninstall": ("agent_sync.cli.setup.uninstall", "Remove exactly what init added."),
    "statusline": ("agent_sync.cli.setup.statusline", "Print one line for Claude Code's status line."),
    "demo": ("agent_sync.cli.setup.demo", "Play a whole task on a local GitHub: no token, no network."),
    "emulator": ("agent_sync.cli.setup.emulator", "Run a local GitHub to try things on."),
    "completion": ("agent_sync.cli.setup.completion", "Print the completion script of a shell."),
    "help": ("agent_sync.cli.help", "Show help for a command, all commands, or the exit codes."),
}
# Section → the commands that the first help shows, and the others that `help --all` adds.
SECTIONS = {
    "Daily": (("claim", "status", "handoff", "done", "release"), ("push", "sync", "explain", "reconcile", "review")),
    "Fleet": (("watch", "ui", "next", "board", "log"), ()),
    "Gates": (("gate",), ("validate",)),
    "Record": (
        ("record", "resume"),
        ("start", "step", "checkpoint", "approve", "reject", "abandon", "cleanup", "workspace"),
    ),
    "Work": (("worker",), ("ledger",)),
    "Set-up": (
        ("init", "doctor", "config", "trust", "demo", "help"),
        ("uninstall", "statusline", "emulator", "completion"),
    ),
}
HOOK_COMMANDS = {
    "on-stop": "Hook: after every answer of the agent (Stop).",
    "on-idle": "Hook: when the session is idle (Notification).",
    "session-start": "Hook: when a session starts (SessionStart).",
    "on-prompt": "Hook: before a prompt is handled (UserPromptSubmit).",
    "on-tool": "Hook: after a tool was used (PostToolUse).",
    "on-end": "Hook: when a session ends (SessionEnd).",
}
# Names from 0.1.0 that scripts and installed hooks use: they keep working and are not listed.
ALIASES = {"hook": "record", "gauntlet": "gate"}
# For git and for us, not for people: not listed either.
HIDDEN = {"guard-push": "agent_sync.cli.setup.guard_push"}


def location(name: str) -> str:
    """Return the module (and attribute) of a command by any of its names, or nothing if there is no such command."""
    return HIDDEN.get(name) or COMMANDS.get(ALIASES.get(name, name), ("", ""))[0]


def front() -> dict[str, list[tuple[str, str]]]:
    """Return the commands of the first help with their lines, by section."""
    return {section: _lines(shown) for section, (shown, _) in SECTIONS.items()}


def everything() -> dict[str, list[tuple[str, str]]]:
    """Return every command with its line, by section, hooks last."""
    sections = {section: _lines(shown + more) for section, (shown, more) in SECTIONS.items()}
    return sections | {"Hooks of Claude Code (JSON on standard input)": list(HOOK_COMMANDS.items())}


def _lines(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, COMMANDS[name][1]) for name in names]
