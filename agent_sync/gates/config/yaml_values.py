"""What reading YAML gives: plain values, or why there are none."""

from typing import TypeAlias

Plain: TypeAlias = "str | int | float | bool | tuple[Plain, ...] | dict[str, Plain] | None"
KeyPath = tuple[str | int, ...]


class NotOrdinary(Exception):
    """The text has something that only a YAML library can read, or refuse."""


class BadYaml(Exception):
    """The text is not YAML we can use."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
