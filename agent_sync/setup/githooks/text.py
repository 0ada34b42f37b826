"""The lines that hooks of git get, and where in an existing hook they go."""

import re

from agent_sync.lazy_dataclasses import dataclass
from agent_sync.lazy_patterns import pattern
from agent_sync.setup.install.edits import Edit

COMMAND = "agent-sync checkpoint --trigger git_commit --auto"
# Set to the name of a file, the hook makes that file and does nothing else: it was reached.
PROBE = "AGENTSYNC_PROBE"
BEGIN, END = "# >>> agent-sync >>>", "# <<< agent-sync <<<"
SHEBANG = "#!/bin/sh\n"
# A rebase makes many commits in a row; one look afterwards finds them all. Git names its directory in linked worktrees.
BLOCK = f"""{BEGIN}
# Tells the recovery record of commits: in the background, silently, and only where agent-sync is installed.
if [ -n "${{{PROBE}:-}}" ]; then : >"${PROBE}"; exit 0; fi
if [ ! -d "${{GIT_DIR:-.git}}/rebase-merge" ] && command -v agent-sync >/dev/null 2>&1; then
  ({COMMAND} </dev/null >/dev/null 2>&1 &)
fi
{END}
"""
GUARD = 'agent-sync guard-push "$@"'
# Git tells a pre-push hook on standard input what is pushed: the hook that was there before must still get to read it.
GUARD_BLOCK = f"""{BEGIN}
# Keeps the claim's branch from being pushed once somebody else holds the issue; where that cannot be told, it passes.
if command -v agent-sync >/dev/null 2>&1; then
  agent_sync_refs=$(cat)
  printf '%s\\n' "$agent_sync_refs" | {GUARD} || exit 1
  if [ -n "$agent_sync_refs" ]; then
    exec <<AGENT_SYNC_REFS
$agent_sync_refs
AGENT_SYNC_REFS
  else
    exec </dev/null
  fi
fi
{END}
"""
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"})
_OURS = pattern(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n", re.MULTILINE | re.DOTALL)
_HARMLESS = pattern(r"\s*(?:#.*|\. .*husky\.sh\"?)?")


@dataclass(frozen=True)
class HookKind:
    """A hook of git that can call us: its name, what is called, and the lines that do it."""

    name: str
    command: str
    block: str


POST_COMMIT = HookKind("post-commit", COMMAND, BLOCK)
PRE_PUSH = HookKind("pre-push", GUARD, GUARD_BLOCK)
KINDS = (POST_COMMIT, PRE_PUSH)


def is_shell(text: str) -> bool:
    """Tell whether the first line hands the hook to a shell that understands our lines."""
    first = text.partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    names = [word.rpartition("/")[2] for word in words if not word.startswith("-")]
    if names[:1] == ["env"]:
        names = names[1:]
    # A line that ends as on Windows names a shell that is not there.
    return bool(names) and names[0] in _SHELLS and not first.endswith("\r")


def addition(text: str, kind: HookKind) -> Edit:
    """Return the edit that puts our lines right after the first one: a hook may end anywhere, but begins there."""
    first, ending, _ = text.partition("\n")
    return Edit(len(first + ending), kind.block if ending else f"\n{kind.block}")


def carries(text: str, kind: HookKind) -> bool:
    """Tell whether our lines are there as we write them today."""
    return kind.block in text


def calls(text: str, kind: HookKind) -> bool:
    """Tell whether agent-sync is called at all, in whatever way."""
    return kind.command in text


def begins_with_ours(text: str) -> bool:
    """Tell whether nothing with an effect runs before our lines, so that a probe can do no harm."""
    before, found, _ = text.partition(BLOCK)
    return bool(found) and all(_HARMLESS.fullmatch(line) for line in before.split("\n"))


def without_our_lines(text: str) -> str:
    """Return the hook without our lines, in whichever version they are there."""
    return _OURS.sub("", text)
