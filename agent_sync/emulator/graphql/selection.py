"""Walks what a document selects before anything runs: directives obeyed, fragments followed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_interface_type,
    is_object_type,
    value_from_ast_untyped,
)

SelectionNode = FieldNode | FragmentSpreadNode | InlineFragmentNode


@dataclass(frozen=True)
class Selected:
    """One field of a document: its parent type, its own, and how many records it may ask for."""

    node: FieldNode
    parent: GraphQLNamedType
    type: GraphQLNamedType
    parents: int
    size: int | None

    @property
    def name(self) -> str:
        """Return the name of the field."""
        return self.node.name.value


@dataclass(frozen=True)
class Walk:
    """The operation of a document with the values of its variables."""

    schema: GraphQLSchema
    document: DocumentNode
    variables: dict[str, Any]

    def fields(self, operation: OperationDefinitionNode) -> Iterator[Selected]:
        """Return every field the operation will run, outermost first."""
        root = self.schema.get_root_type(operation.operation)
        if root:
            yield from self._within(operation.selection_set, root, 1)

    def _within(self, selected: SelectionSetNode, parent: GraphQLNamedType, parents: int) -> Iterator[Selected]:
        for node in selected.selections:
            if not self._included(node.directives):
                continue
            if isinstance(node, FieldNode):
                yield from self._field(node, parent, parents)
            elif isinstance(node, InlineFragmentNode):
                yield from self._within(node.selection_set, self._narrowed(node, parent), parents)
            elif isinstance(node, FragmentSpreadNode):
                fragment = self._fragment(node.name.value)
                yield from self._within(fragment.selection_set, self._narrowed(fragment, parent), parents)

    def _field(self, node: FieldNode, parent: GraphQLNamedType, parents: int) -> Iterator[Selected]:
        if not (is_object_type(parent) or is_interface_type(parent)) or node.name.value not in parent.fields:
            return  # __typename and introspection cost nothing and need no scope
        kind = get_named_type(parent.fields[node.name.value].type)
        size = self._page_size(node) if kind.name.endswith("Connection") else None
        yield Selected(node, parent, kind, parents, size)
        if node.selection_set:
            yield from self._within(node.selection_set, kind, parents * (size or 1))

    def _narrowed(
        self, node: InlineFragmentNode | FragmentDefinitionNode, parent: GraphQLNamedType
    ) -> GraphQLNamedType:
        condition = node.type_condition
        return (self.schema.get_type(condition.name.value) if condition else None) or parent

    def _fragment(self, name: str) -> FragmentDefinitionNode:
        return next(
            node
            for node in self.document.definitions
            if isinstance(node, FragmentDefinitionNode) and node.name.value == name
        )

    def _included(self, directives: tuple[DirectiveNode, ...] | None) -> bool:
        for directive in directives or ():
            condition = bool(self._value(directive.arguments[0].value)) if directive.arguments else True
            if condition != (directive.name.value == "include"):
                return False
        return True

    def _value(self, node: Any) -> Any:
        return value_from_ast_untyped(node, self.variables)

    def _page_size(self, node: FieldNode) -> int:
        for argument in node.arguments or ():
            size = self._value(argument.value) if argument.name.value in {"first", "last"} else None
            if isinstance(size, int):
                return size
        return 0
