"""What was said in a session: now, or in a hook that had nothing else to do and laid its input by."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_sync.quiet import answer as quiet
from agent_sync.system import files, temporaries
from agent_sync.system.json_reading import read_json
from agent_sync.worktree import Place

# The hooks whose input holds words, and the field that does.
_FIELDS = {"on-stop": "last_assistant_message", "on-prompt": "prompt"}


@dataclass(frozen=True)
class Occasion:
    """What woke the record: a session at work, with what was said in it, or anything else."""

    session_id: str = ""
    said: str = ""
    prompt: str = ""
    # Whether somebody works on the task now: then a crash is over.
    is_work: bool = False
    # Whether a human has said that the task shall go on, by a command.
    is_answer: bool = False


GLANCE = Occasion()


@dataclass
class Spool:
    """The inputs that lie by in one worktree; they are cleared once they are on record."""

    place: Place
    _taken: dict[str, str] = field(default_factory=dict)

    def joined(self, occasion: Occasion) -> Occasion:
        """Return the occasion with the words that lay by, where it has none of its own."""
        said, prompt = self._words("on-stop"), self._words("on-prompt")
        return replace(occasion, said=occasion.said or said, prompt=occasion.prompt or prompt)

    def clear(self) -> None:
        """Forget what was taken; what came meanwhile stays."""
        temporaries.sweep(Path(quiet.spool_file(self.place, "*")))
        for path, state in self._taken.items():
            if quiet.state_of(path) == state:
                Path(path).unlink(missing_ok=True)

    def _words(self, hook: str) -> str:
        path = quiet.spool_file(self.place, hook)
        state = quiet.state_of(path)
        try:
            values = read_json(files.read_own(Path(path), largest=quiet.LARGEST) or b"null")
        except (files.NotPlain, ValueError):
            return ""
        self._taken[path] = state
        found = values.get(_FIELDS[hook]) if isinstance(values, dict) else None
        return found if isinstance(found, str) else ""
