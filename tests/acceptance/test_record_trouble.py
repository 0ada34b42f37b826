"""A recovery record that cannot be kept: the claim's own work goes on, and the human is told."""


def test_unusable_home_does_not_hold_the_claim(theatre):
    """With an ATLAS_HOME that means nothing a task is taken, mirrored and given back as ever, with a warning."""
    theatre.stage.environment["ATLAS_HOME"] = "relative/atlas"
    taken = theatre.stage.command("claim", "42")
    assert (taken.status, theatre.card()["Status"]) == (0, "In Progress")
    assert "ATLAS_HOME must be an absolute path" in taken.stderr
    given_back = theatre.stage.command("release")
    assert (given_back.status, theatre.stage.claim()) == (0, None)
