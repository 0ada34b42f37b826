"""How much of the house one pull request walks through: a newcomer follows it by reading that much."""

from support.calls import calls_of

MOST_MODULES = 66
PARSES_PER_ROUND = 2


def test_opening_a_pull_request_reads_as_one_journey(theatre, tmp_path):
    """A Stop that opens the pull request calls functions of few modules and seldom parses the claim file."""
    theatre.stage.command("claim", "42")
    theatre.stage.commit("work.txt", "work\n", "Work")
    theatre.stage.command("handoff", "--summary", "Fix it", "--later")
    calls = calls_of("on-stop", cwd=theatre.stage.root, environment=theatre.stage.environment, file=tmp_path / "calls")
    assert len(theatre.pulls()) == 1
    modules = sorted({module for module, _ in calls})
    rounds = calls["task/loop.py", "_round"]
    parses = calls["task/claim/model.py", "parse"]
    assert len(modules) <= MOST_MODULES, "\n".join(modules)
    assert parses <= PARSES_PER_ROUND * rounds, f"{parses} parses in {rounds} rounds"
