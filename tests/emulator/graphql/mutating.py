"""Runs single mutations."""


def run(desk, name, returning, /, using="any", **given):
    """Run one mutation and return the whole answer."""
    kind = name[0].upper() + name[1:]
    query = f"mutation($input: {kind}Input!) {{ done: {name}(input: $input) {{ {returning} }} }}"
    return desk.answer(query, using, input=given)


def done(desk, name, returning, /, **given):
    """Run one mutation that must succeed and return its payload."""
    answer = run(desk, name, returning, **given)
    assert "errors" not in answer, answer["errors"]
    return answer["data"]["done"]


def refused(desk, name, returning, /, **given):
    """Run one mutation that must fail and return type and message of its error."""
    answer = run(desk, name, returning, **given)
    assert answer["data"] == {"done": None}
    assert answer["errors"][0]["path"] == ["done"]
    return answer["errors"][0]["type"], answer["errors"][0]["message"]
