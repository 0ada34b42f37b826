"""Checks the plugin of Claude Code: installed where enabled, of this version, not beside the same hooks; pure."""

from agent_sync import __version__
from agent_sync.setup.client.levels import Level
from agent_sync.setup.client.plugin import Plugin
from agent_sync.setup.doctor.result import Result, fail, ok, warn
from agent_sync.task.decision.outside_text import one_line


def check_plugin(found: list[Level], plugin: Plugin | None) -> Result:
    """Check that hooks come from the plugin or from a settings file, and say from which."""
    files = sorted({handler.file for level in found for handler in level.handlers if handler.hook})
    if plugin is None:
        return ok("plugin", "not enabled; hooks and pages are those of `agent-sync init`")
    shown, where = one_line(plugin.id), f"enabled in {one_line(plugin.file)}"
    if not plugin.is_active:
        says = f"{shown} is {where} but not installed here, so the client runs none of its hooks"
        return (warn if files else fail)("plugin", says, f"claude plugin install {shown} --scope project")
    if files:
        says = f"{shown} is {where}, and {', '.join(files)} registers hooks as well; each event is answered once"
        return warn("plugin", says, f"agent-sync uninstall, then agent-sync init; or claude plugin disable {shown}")
    if plugin.version != __version__:
        says = f"{shown} is {one_line(plugin.version)}; this is {__version__}"
        return warn("plugin", says, f"claude plugin update {shown}")
    return ok("plugin", f"{shown} {__version__}, {where}, brings hooks and pages")
