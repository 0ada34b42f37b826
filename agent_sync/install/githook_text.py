"""The lines that a post-commit hook gets, and where in an existing hook they go."""

import re

from agent_sync.install.edits import Edit

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
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"})
_OURS = re.compile(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n", re.MULTILINE | re.DOTALL)
_HARMLESS = re.compile(r"\s*(?:#.*|\. .*husky\.sh\"?)?")


def is_shell(text: str) -> bool:
    """Tell whether the first line hands the hook to a shell that understands our lines."""
    first = text.partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    names = [word.rpartition("/")[2] for word in words if not word.startswith("-")]
    if names[:1] == ["env"]:
        names = names[1:]
    # A line that ends as on Windows names a shell that is not there.
    return bool(names) and names[0] in _SHELLS and not first.endswith("\r")


def addition(text: str) -> Edit:
    """Return the edit that puts our lines right after the first one: a hook may end anywhere, but begins there."""
    first, ending, _ = text.partition("\n")
    return Edit(len(first + ending), BLOCK if ending else f"\n{BLOCK}")


def carries(text: str) -> bool:
    """Tell whether our lines are there as we write them today."""
    return BLOCK in text


def calls(text: str) -> bool:
    """Tell whether agent-sync is called at all, in whatever way."""
    return COMMAND in text


def begins_with_ours(text: str) -> bool:
    """Tell whether nothing with an effect runs before our lines, so that a probe can do no harm."""
    before, found, _ = text.partition(BLOCK)
    return bool(found) and all(_HARMLESS.fullmatch(line) for line in before.split("\n"))


def cleared(text: str) -> str:
    """Return the hook without our lines, in whichever version they are there."""
    return _OURS.sub("", text)
