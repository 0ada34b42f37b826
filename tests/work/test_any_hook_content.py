"""Whatever the files of a work hook hold: they are work that everything can show, or damage with a reason."""

from hypothesis import given
from support.any_hook import meet_hook, spoilt


@given(spoilt())
def test_any_files_are_a_hook_or_damage(files):
    """Reading raises nothing but our own error, and what it returns can be shown, counted, mended and written."""
    meet_hook(files)
