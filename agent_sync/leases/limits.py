"""The limits of what a claim's JSON may say, for the models that read what others wrote to a remote."""

from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from agent_sync.task.claim.model import LARGEST_NUMBER, at_most_a_month, cut_name, in_calendar, writable

Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Moment = Annotated[AwareDatetime, AfterValidator(in_calendar)]
Ttl = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(at_most_a_month)]
# A name that people read; one that is too long is cut.
Name = Annotated[str, BeforeValidator(cut_name), BeforeValidator(writable)]
