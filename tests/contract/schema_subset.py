"""Says in which ways one GraphQL schema claims more, or other, than a published one."""

from collections.abc import Iterator

from graphql import DefinitionNode, DocumentNode, print_ast

Fields = dict[str, object]


def differences(ours: DocumentNode, published: DocumentNode) -> list[str]:
    """Return one sentence per lie: whatever ours promises that the published schema does not."""
    theirs = definitions(published)
    found: list[str] = []
    for name, node in definitions(ours).items():
        other = theirs.get(name)
        if other is None:
            found.append(f"{name}: not in the published schema")
        elif other.kind != node.kind:
            found.append(f"{name}: is {other.kind}, not {node.kind}")
        else:
            found.extend(f"{name}{text}" for text in compare(node, other))
    return found


def definitions(document: DocumentNode) -> dict[str, DefinitionNode]:
    """Return the type definitions of a document by name."""
    return {node.name.value: node for node in document.definitions if node.kind.endswith("_type_definition")}


def compare(ours: DefinitionNode, theirs: DefinitionNode) -> Iterator[str]:
    """Compare two definitions of the same kind."""
    match ours.kind:
        case "object_type_definition" | "interface_type_definition":
            yield from extra("interface", names(ours.interfaces), names(theirs.interfaces))
            yield from compare_fields(ours, theirs)
        case "input_object_type_definition":
            yield from compare_inputs("", ours.fields, theirs.fields)
        case "enum_type_definition":
            yield from extra("value", names(ours.values), names(theirs.values))
        case "union_type_definition":
            yield from extra("member", names(ours.types), names(theirs.types))


def names(nodes) -> set[str]:
    return {node.name.value for node in nodes or ()}


def extra(what: str, ours: set[str], theirs: set[str]) -> Iterator[str]:
    for name in sorted(ours - theirs):
        yield f": {what} {name} is not published"


def compare_fields(ours, theirs) -> Iterator[str]:
    published = {field.name.value: field for field in theirs.fields or ()}
    for field in ours.fields or ():
        other = published.get(field.name.value)
        if other is None:
            yield f".{field.name.value}: no such field"
            continue
        if print_ast(field.type) != print_ast(other.type):
            yield f".{field.name.value}: type {print_ast(field.type)}, published {print_ast(other.type)}"
        yield from compare_inputs(f".{field.name.value}", field.arguments, other.arguments)


def compare_inputs(place: str, ours, theirs) -> Iterator[str]:
    """Compare arguments or input fields: same type and default, and nothing required left out."""
    published = {value.name.value: value for value in theirs or ()}
    for value in ours or ():
        other = published.pop(value.name.value, None)
        if other is None:
            yield f"{place}({value.name.value}): no such input"
        elif shape(value) != shape(other):
            yield f"{place}({value.name.value}): {shape(value)}, published {shape(other)}"
    for name, value in published.items():
        if value.type.kind == "non_null_type" and value.default_value is None:
            yield f"{place}({name}): required by the published schema, missing here"


def shape(value) -> str:
    default = f" = {print_ast(value.default_value)}" if value.default_value else ""
    return f"{print_ast(value.type)}{default}"
