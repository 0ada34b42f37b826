"""The way in: a hook with nothing to do ends here; otherwise the hooks or the commands are loaded."""

import os
import sys

from agent_sync import __version__

HOOKS = ("on-stop", "on-idle", "session-start", "on-prompt", "on-tool")
# Ends a session: there is no time for more than a note.
END = "on-end"
# Their input holds what the agent or the human said last.
SPOKEN = ("on-stop", "on-prompt")
# Commands that end as soon as hooks, but for the programs they wait for.
SHORT = ("gate", "gauntlet")
# Those that are not parsed: with an option they are commands like the others.
PLAIN = ("run", "detect")
# Where the client says that a hook is its plugin's.
PLUGIN = "CLAUDE_PLUGIN_ROOT"
# What Claude Code runs: it must never fail.
RUN_BY_CLIENT = (*HOOKS, END, "statusline", "stop-hook")


def main() -> None:
    """Run the command that the arguments name."""
    if os.name == "nt":
        refuse_windows()
    elif len(sys.argv) > 1 and sys.argv[1] in HOOKS and not {"--help", "-h"} & set(sys.argv):
        hook()
    elif sys.argv[1:2] == [END] and not {"--help", "-h"} & set(sys.argv):
        end()
    elif sys.argv[1:] == ["statusline"]:
        # The client runs it after every message, so it does not wait for the command line to load.
        from agent_sync.events import statusline

        statusline.main()
    elif sys.argv[1:3] in (["gate", "stop-hook"], ["gauntlet", "stop-hook"]) and "--help" not in sys.argv:
        stop_gate()
    elif len(sys.argv) == len(("agent-sync", "gate", "run")) and sys.argv[1] in SHORT and sys.argv[2] in PLAIN:
        plain_gate(sys.argv[2])
    else:
        if sys.argv[1:2] and sys.argv[1] in SHORT:
            load_lightly()
        from agent_sync.cli.app import run

        run()


def load_lightly() -> None:
    """Have what comes next load sooner."""
    import gc

    # Loading makes very many objects and no garbage, and a hook ends soon.
    gc.set_threshold(100_000)
    # Before anything loads `dataclasses`: it leaves out what that loads for nothing.
    from agent_sync import lazy_dataclasses  # noqa: F401


def refuse_windows() -> None:
    """Say where agent-sync runs, before anything loads that Windows does not have."""
    sys.stderr.write(f"agent-sync {__version__} does not run on Windows itself. Use it in WSL, as on Linux.\n")
    sys.exit(0 if set(RUN_BY_CLIENT) & set(sys.argv[1:3]) else 1)


def answer(line: str, note: str = "") -> None:
    """Print a reply, and a note on standard error; a reader that is gone is no reason to fail."""
    for descriptor, text in ((2, note), (1, line)):
        try:
            os.write(descriptor, text.encode())
        except OSError:
            continue


def gate_line(raw: bytes) -> str | None:
    """Return what the gate says of a stop, nothing where none is configured, or None where it has to look."""
    from agent_sync.quiet import answer as quiet

    if quiet.is_nested() or quiet.gate_root(raw) is None:
        return ""
    from agent_sync.quiet import gate as quick

    return quick.line(raw, verifies=True)


def are_watched(raw: bytes) -> bool:
    """Tell whether watchers run for all that an event is about."""
    from agent_sync.quiet.watched import are_watched

    return are_watched(raw)


def note_of(line: str) -> str:
    """Return what standard error is told of the gate's reply."""
    from agent_sync.quiet import gate as quick

    return quick.note(line)


def stop_gate() -> None:
    """Answer a stop with the gate alone, at once if that certainly needs no run."""
    from agent_sync.quiet import answer as quiet, gate as quick

    raw = quiet.read_stdin()
    line = quick.line(raw)
    if line is not None:
        answer(line, quick.note(line))
        os._exit(0)
    load_lightly()
    from agent_sync.events.stop_gate import run

    run(raw)


def plain_gate(name: str) -> None:
    """Run gates, or say which would run, without loading what parses options."""
    load_lightly()
    from agent_sync.cli.ending import run_and_leave

    if name == "run":
        from agent_sync.cli.gates.running import run_all

        run_and_leave(run_all)
    from agent_sync.cli.gates.detecting import show_changes

    run_and_leave(show_changes)


def is_registered_twice() -> bool:
    """Tell whether the plugin of Claude Code runs a hook that a settings file registers as well: that one answers."""
    if not os.environ.get(PLUGIN):
        return False
    from agent_sync.quiet import answer as quiet, plugin

    if quiet.is_named_by_checkout((PLUGIN,)) and is_exported():
        return False

    found = plugin.is_registered(sys.argv[1])
    if found is None:
        from agent_sync.setup.client.levels import is_registered

        found = is_registered(sys.argv[1])
    return found


def is_exported() -> bool:
    """Tell whether a settings file of the checkout has named the plugin's directory, which would silence every hook."""
    from agent_sync.quiet import answer as quiet
    from agent_sync.settings.sources import set_by_checkout

    project = os.environ.get("CLAUDE_PROJECT_DIR", "")
    return PLUGIN in set_by_checkout(os.environ, quiet.checkout_roots(project))


def end() -> None:
    """Note the end of a session, without a lock and without the network; the next session reads the note."""
    from agent_sync.quiet import answer as quiet

    raw = quiet.read_stdin(quiet.PATIENCE)
    if not quiet.is_nested() and not is_registered_twice():
        from agent_sync.quiet.last_words import keep_end

        keep_end(raw)
    os._exit(0)


def hook() -> None:
    """Answer a hook of Claude Code, from the stamp if that is enough."""
    from agent_sync.quiet import answer as quiet

    raw = quiet.read_stdin()
    if is_registered_twice():
        os._exit(0)
    # A watcher is not a short answer: only what silences every hook, and one that runs already, silence it from here.
    if quiet.is_nested() or (are_watched(raw) if "--rewake" in sys.argv else quiet.nothing_to_do(sys.argv[1], raw)):
        line = gate_line(raw) if sys.argv[1] == "on-stop" else ""
        if line is not None:
            answer(line, note_of(line) if line else "")
            if sys.argv[1] in SPOKEN and not quiet.is_nested():
                from agent_sync.quiet.last_words import keep_input

                keep_input(sys.argv[1], raw)
            # Nothing was opened, so there is nothing to finalise.
            os._exit(0)
    load_lightly()
    from agent_sync.events.run import run

    run(sys.argv[1:], raw)


if __name__ == "__main__":
    main()
