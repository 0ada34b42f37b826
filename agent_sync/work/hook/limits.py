"""Limits that the files of a work hook share with claims and leases, in pydantic's words."""

from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from agent_sync.system.git import LONGEST_BRANCH
from agent_sync.task.claim.model import LARGEST_NUMBER, cut_name, in_calendar, writable

Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Moment = Annotated[AwareDatetime, AfterValidator(in_calendar)]
# A name that people read; one that is too long is cut.
Name = Annotated[str, BeforeValidator(cut_name), BeforeValidator(writable)]
BranchName = Annotated[str, Field(max_length=LONGEST_BRANCH), BeforeValidator(writable)]
