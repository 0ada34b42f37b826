"""Limits of what others may write into claim refs, work hooks and claim files, as types that refuse or cut it."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

# What a number of an issue or pull request, and whatever counts something, may be at most.
LARGEST_NUMBER = 2**31 - 1
LONGEST_TTL_S = 30 * 86_400.0
LONGEST_NAME = 300
FIRST_YEAR, LAST_YEAR = 1970, 2199


def _in_calendar(moment: datetime) -> datetime:
    """Return a moment in UTC; outside of these years sums of times would leave every calendar."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"the year must be between {FIRST_YEAR} and {LAST_YEAR}")
    return moment.astimezone(UTC)


def _at_most_a_month(value: object) -> object:
    """Return a length of time that is no longer than any lease may last."""
    return min(value, LONGEST_TTL_S) if isinstance(value, int | float) else value


def writable(value: object) -> object:
    """Replace half characters, which JSON can carry and its strict readers refuse."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _cut(value: object) -> object:
    return value[:LONGEST_NAME] if isinstance(value, str) else value


def following(number: int) -> int:
    """Return the next number of a count that is for people to read, and so may stop at the largest."""
    return min(number + 1, LARGEST_NUMBER)


Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
InCalendar = AfterValidator(_in_calendar)
Moment = Annotated[AwareDatetime, InCalendar]
Ttl = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_at_most_a_month)]
# A name that people read; one that is too long is cut.
Name = Annotated[str, BeforeValidator(_cut), BeforeValidator(writable)]
