"""Runs single mutations."""


def run(context, name, returning, /, using="any", **given):
    """Run one mutation and return the whole answer."""
    kind = name[0].upper() + name[1:]
    query = f"mutation($input: {kind}Input!) {{ done: {name}(input: $input) {{ {returning} }} }}"
    return context.answer(query, using, input=given)


def done(context, name, returning, /, **given):
    """Run one mutation that must succeed and return its payload."""
    answer = run(context, name, returning, **given)
    assert "errors" not in answer, answer["errors"]
    return answer["data"]["done"]


def refused(context, name, returning, /, **given):
    """Run one mutation that must fail and return type and message of its error."""
    answer = run(context, name, returning, **given)
    assert answer["data"] == {"done": None}
    assert answer["errors"][0]["path"] == ["done"]
    return answer["errors"][0]["type"], answer["errors"][0]["message"]
