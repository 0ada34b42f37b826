"""Acts on what a merge needs: rules, the queue, standing orders, and merging itself."""

from agent_sync.emulator.acts.act import Act, ImpossibleActError
from agent_sync.emulator.operations.merges import auto_merging, queueing
from agent_sync.emulator.operations.merges.merging import merge_pull as land
from agent_sync.emulator.world.pulls import MergeMethod

Outcome = dict[str, int | str]

SWITCHES = ("conversation_resolution", "up_to_date", "merge_queue", "auto_merge")


def rules(act: Act) -> Outcome:
    """Change what the default branch asks for before a merge; what is not named stays as it is."""
    asked = act.repository.rules
    if "required_reviews" in act.fields:
        asked.required_reviews = act.number("required_reviews")
    for name in SWITCHES:
        setattr(asked, name, act.flag(name, default=getattr(asked, name)))
    return {"id": act.repository.full_name}


def merge_pull(act: Act) -> Outcome:
    """Merge a pull request as someone who may overrule required checks."""
    land(act.world, act.by, act.pull, method=_method(act), bypass_checks=True)
    return {"number": act.pull.number}


def _method(act: Act) -> MergeMethod:
    method = act.text("method", "merge")
    if method not in set(MergeMethod):
        raise ImpossibleActError(f"unknown method {method!r}; known: {', '.join(MergeMethod)}")
    return MergeMethod(method)


def enqueue_pull(act: Act) -> Outcome:
    """Put a pull request into the merge queue; the id is the commit whose checks decide."""
    entry = queueing.enqueue(act.world, act.by, act.pull, jump=act.flag("jump", default=False))
    return {"id": entry.head_sha}


def eject_pull(act: Act) -> Outcome:
    """Remove a pull request from the merge queue with a reason; it stays open."""
    entry = queueing.dequeue(act.world, act.by, act.pull, reason=act.text("reason", "failed_checks"))
    return {"id": entry.head_sha}


def auto_merge(act: Act) -> Outcome:
    """Order the merge of a pull request for when nothing is missing, or with `on` false take the order back."""
    if act.flag("on", default=True):
        auto_merging.enable(act.world, act.by, act.pull, _method(act))
    else:
        auto_merging.disable(act.world, act.by, act.pull)
    return {"number": act.pull.number}
