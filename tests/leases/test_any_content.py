"""Whatever bytes a claim holds: they are a lease that every rule can judge, or unreadable."""

from hypothesis import given
from support.any_lease import any_lease, any_note, meet_lease, meet_note


@given(any_lease)
def test_any_content_is_a_lease_or_unreadable(content):
    """Parsing raises nothing but our own error, and what it returns can be judged, told, renewed and written."""
    meet_lease(content)


@given(any_note)
def test_any_lease_of_a_claim_file_is_a_note_or_refused(content):
    """A claim file with any lease in it is refused with our own error, or its renewal is due within a month."""
    meet_note(content)
