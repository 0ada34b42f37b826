"""The steps a kind of task goes through."""

from agent_sync.errors import BadInput
from agent_sync.record.machine.model import Step
from agent_sync.settings import Settings

CLAIM_TO_CLOSE = "claim-to-close"
# Doing these twice does no harm: they look before they write, or write nothing.
IDEMPOTENT = frozenset(
    {"analyze", "plan", "validate", "review", "test", "lint", "push", "pull_request", "checks", "merge", "close"}
)
BUILT_IN: dict[str, tuple[str, ...]] = {
    CLAIM_TO_CLOSE: ("implement", "validate", "pull_request", "checks", "merge", "close"),
    "bugfix": ("analyze", "plan", "implement", "validate", "commit", "push", "pull_request"),
    "feature": ("analyze", "plan", "implement", "test", "validate", "document", "commit", "push", "pull_request"),
}


def steps_of(template: str, settings: Settings) -> tuple[Step, ...]:
    """Return the steps of a template, the repository's own before the built-in ones."""
    own = settings.templates.get(template)
    if own:
        again = IDEMPOTENT | set(own.idempotent)
        return tuple(Step(name=name, idempotent=name in again) for name in own.steps)
    if template not in BUILT_IN:
        known = ", ".join(sorted({*BUILT_IN, *settings.templates}))
        raise BadInput(f"There is no template {template!r}; there are {known}.", helps="agent-sync start --help")
    return tuple(Step(name=name, idempotent=name in IDEMPOTENT) for name in BUILT_IN[template])
