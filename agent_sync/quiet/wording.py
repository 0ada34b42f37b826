"""The sentences of answers that need no run; imports nothing, so that the quick path can say them too."""

INVALID_INPUT = "The hook's input could not be parsed as a JSON object."
ACTIVE = "The stop hook is already active; not run again, to prevent a loop."
NESTED = "This session is itself a review; no gates run, to prevent a loop."
NO_CONFIG = "Not a gauntlet project: there is no .gauntlet/config.yml."
DISABLED = "The stop hook is disabled for this project or user."


def interval(seconds: float) -> str:
    """Return how long the next run is off."""
    return f"The last run was recent; {duration(seconds)} remain."


def unchanged(at: str) -> str:
    """Return since when a pass holds."""
    return f"The gates passed; unchanged since {at}."


def no_changes(base: str) -> str:
    """Return that there is nothing for gates to look at."""
    return f"Nothing changed compared with {base}."


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    minutes, rest = divmod(int(seconds + 0.999), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
