"""The families that disturb one step of a whole task."""

import functools
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence

from support.clients import Nursery

from prove.case import Case, Family
from prove.disturbing import (
    Counted,
    Disturb,
    at_git_call,
    at_request,
    at_write,
    counted,
    counted_writes,
    played,
    with_fault,
)

SECONDS = 8.0
MOMENTS = ("before", "after")
FAULTS = (
    "status:502",
    "secondary_limit",
    "primary_limit",
    "drop_before",
    "drop_after_apply",
    "delay:0.3",
    "garbage",
    "truncate",
)
# What only GitHub's interfaces answer, and no git server does.
OF_THE_INTERFACE = ("status:429", "resource_limits", "timed_out")


@functools.cache
def _counted(nursery: Nursery) -> Counted:
    return counted(nursery)


def _case(name: str, step: str, disturb: Disturb) -> Case:
    return Case(name, functools.partial(played, step=step, disturb=disturb), SECONDS)


def _request_names(nursery: Nursery) -> Sequence[str]:
    requests = _counted(nursery).requests
    return [
        f"{step}/{number}/{moment}"
        for step in requests
        for number in range(1, len(requests[step]) + 1)
        for moment in MOMENTS
    ]


def _request_case(name: str) -> Case:
    step, number, moment = name.split("/")
    return _case(name, step, at_request(int(number), moment))


def _git_names(nursery: Nursery) -> Sequence[str]:
    calls = _counted(nursery).git_calls
    return [f"{step}/{number}/{moment}" for step in calls for number in range(1, calls[step] + 1) for moment in MOMENTS]


def _git_case(name: str) -> Case:
    step, number, moment = name.split("/")
    return _case(name, step, at_git_call(int(number), moment))


def _write_names(nursery: Nursery) -> Sequence[str]:
    if not shutil.which("strace"):
        return []
    writes = counted_writes(nursery)
    found = ((step, call, count) for step, calls in writes.items() for call, count in Counter(calls).items())
    return [f"{step}/{call}/{number}" for step, call, count in found for number in range(1, count + 1)]


def _write_case(name: str) -> Case:
    step, call, number = name.split("/")
    return _case(name, step, at_write(call, int(number)))


def _fault_names(nursery: Nursery) -> Sequence[str]:
    return [name for step, requests in _counted(nursery).requests.items() for name in _faults_of(step, requests)]


def _faults_of(step: str, requests: Sequence[str]) -> Iterator[str]:
    everywhere = [("all", fault) for fault in (*FAULTS, *OF_THE_INTERFACE)] if requests else []
    for number, request in enumerate(requests, start=1):
        faults = FAULTS if request.startswith("git-") else (*FAULTS, *OF_THE_INTERFACE)
        everywhere += [(str(number), fault) for fault in faults]
    yield from (f"{step}/{number}/{fault}" for number, fault in everywhere)


def _fault_case(name: str) -> Case:
    step, number, fault = name.split("/")
    return _case(name, step, with_fault(number, fault))


WHOLE_TASK = (
    Family(
        "kill-request",
        "a command is killed at each request it makes, carried out or not",
        _request_names,
        _request_case,
    ),
    Family("kill-git", "a command is killed before or after each git call it makes", _git_names, _git_case),
    Family("kill-write", "a command is killed at each durable write it makes", _write_names, _write_case),
    Family(
        "faults", "a request, or all of a step, go wrong in each way the local GitHub knows", _fault_names, _fault_case
    ),
)
