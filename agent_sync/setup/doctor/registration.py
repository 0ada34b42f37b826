"""Checks how our hooks are registered with Claude Code, over all its settings files; pure."""

from collections import Counter

from agent_sync.setup.client.levels import Handler, Level
from agent_sync.setup.client.plugin import Plugin
from agent_sync.setup.doctor.result import Result, fail, ok, warn
from agent_sync.setup.install.entries import HOOKS, hook_of
from agent_sync.task.decision.outside_text import one_line

# Longer than anyone would let a session stand still: thirty seconds written as milliseconds are above it.
LONGEST_WAIT_S = 3600


def check_files(found: list[Level]) -> Result:
    """Check that the client can read its settings and runs hooks at all."""
    broken = [level for level in found if level.trouble]
    if broken:
        says = "; ".join(f"{level.file}: {level.trouble}" for level in broken)
        return fail("client settings", says, f"correct {broken[0].file}")
    off = [level.file for level in found if level.values.get("disableAllHooks") is True]
    if off:
        return fail("client settings", f"{off[0]} switches all hooks off", f"take disableAllHooks out of {off[0]}")
    return ok("client settings", ", ".join(level.file for level in found) or "none are there")


def check_registered(found: list[Level], plugin: Plugin | None = None) -> Result:
    """Check that every hook of ours is registered for its event; the plugin registers all of them."""
    if plugin and plugin.is_active:
        return ok("hooks", f"registered by the plugin {one_line(plugin.id)}")
    there = {(handler.event, handler.hook) for level in found for handler in level.handlers}
    wanted = {event: hook_of(group["hooks"][0]) for event, group in HOOKS.items()}
    missing = [f"{event} ({hook})" for event, hook in wanted.items() if (event, hook) not in there]
    if missing == ["SessionEnd (on-end)"]:
        says = "SessionEnd is not registered, so the end of a session looks like a crash"
        return warn("hooks", says, "agent-sync init")
    if missing:
        return fail("hooks", f"not registered: {', '.join(missing)}", "agent-sync init")
    return ok("hooks", f"registered for {', '.join(wanted)}")


def check_once(found: list[Level]) -> Result:
    """Check that no hook of ours runs twice; the client itself runs identical handlers once."""
    handlers = [handler for level in found for handler in level.handlers]
    old = [handler for handler in handlers if handler.is_old_script]
    if old:
        files = ", ".join(sorted({handler.file for handler in old}))
        return fail("hooks once", f"agent-sync.sh is still registered in {files}", f"take its entries out of {files}")
    distinct = {_identity(handler): handler for handler in handlers if handler.hook}
    count = Counter((handler.event, handler.hook) for handler in distinct.values())
    twice = [f"{event} ({hook})" for (event, hook), number in count.items() if number > 1]
    if twice:
        files = ", ".join(sorted({handler.file for handler in distinct.values()}))
        return fail("hooks once", f"registered more than once: {', '.join(twice)} in {files}", "leave one of each")
    return ok("hooks once", "none runs twice")


def check_timeouts(found: list[Level]) -> Result:
    """Check that every timeout is a number of seconds that makes sense."""
    handlers = [handler for level in found for handler in level.handlers if "timeout" in handler.says]
    ignored = [handler for handler in handlers if not _is_number(handler.says["timeout"])]
    if ignored:
        return fail("timeouts", f"{_entry_name(ignored[0])}: the client ignores this hook", _in_seconds(ignored[0]))
    long = [handler for handler in handlers if handler.is_waited_for and handler.says["timeout"] > LONGEST_WAIT_S]
    if not long:
        return ok("timeouts", "all are seconds")
    says = f"{_entry_name(long[0])} looks like milliseconds; the client reads seconds"
    ours = [handler for handler in long if handler.hook]
    if ours:
        return fail("timeouts", says, "agent-sync init")
    return warn("timeouts", says, _in_seconds(long[0]))


def _is_number(timeout: object) -> bool:
    return isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout > 0


def _entry_name(handler: Handler) -> str:
    return one_line(f"{handler.file}, {handler.event}: timeout {handler.says['timeout']!r}")


def _in_seconds(handler: Handler) -> str:
    return f"write seconds into {handler.file}"


def _identity(handler: Handler) -> tuple[str, str, str]:
    says = sorted((key, repr(value)) for key, value in handler.says.items())
    return handler.event, handler.matcher, repr(says)
