"""One YAML document: its values, for which most need no YAML library, and the lines, which only the library knows."""

from functools import cached_property
from typing import TYPE_CHECKING

from agent_sync.gates.config import plain_yaml
from agent_sync.gates.config.yaml_values import KeyPath, NotOrdinary

if TYPE_CHECKING:
    from agent_sync.gates.config.yaml12 import YamlDocument


class Document:
    """A document as it was read; a text that is not YAML we can use raises BadYaml."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self.values = plain_yaml.read(text)
        except NotOrdinary:
            self.values = self._by_library.values

    @cached_property
    def _by_library(self) -> "YamlDocument":
        from agent_sync.gates.config.yaml12 import load

        return load(self._text)

    def line_of(self, path: KeyPath) -> int:
        """Return the line of what a path leads to, or of the nearest place above it that is there."""
        return self._by_library.line_of(path)
