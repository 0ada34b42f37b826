import pytest
from hypothesis import given, settings, strategies as st
from support.jsonc_files import tidy, untidy
from support.prove import PROVE

from agent_sync.errors import BadConfig
from agent_sync.setup.install.claude_md import CLAUDE_MD
from agent_sync.setup.install.edits import Edit
from agent_sync.setup.install.plan import CLAUDE_SETTINGS, IGNORE, Choice, installation, removal
from agent_sync.setup.install.record import InstallRecord, Written, digest
from agent_sync.setup.install.signature import with_signature

STARTER = with_signature("[project]\n")
CLAIM_PAGE = ".claude/commands/claim.md"
# Whole files take a while to make.
FEWER = settings() if PROVE else settings(max_examples=15)


def carried_out(files, plan):
    """Return the files after a plan."""
    after = dict(files)
    for change in plan.changes:
        assert files.get(change.path) == change.before
        after[change.path] = change.after
    return {path: content for path, content in after.items() if content is not None}


def installed(files, record=None):
    plan = installation(files.get, record or InstallRecord(), lambda: STARTER)
    return carried_out(files, plan), (record or InstallRecord()).with_entries(
        tuple(change.written for change in plan.changes if change.written)
    )


CONTENTS = st.one_of(st.none(), st.binary(max_size=30), st.sampled_from([b"", b"x", b"x\r\n", b".agent-claim.json\n"]))


@FEWER
@given(st.one_of(untidy(), tidy()), CONTENTS)
def test_taking_out_restores_the_bytes(given_file, ignored):
    """Whatever was there is there again, to the byte, and no file more."""
    files = {CLAUDE_SETTINGS: given_file[1].encode()} | ({IGNORE: ignored} if ignored is not None else {})
    after, record = installed(files)
    assert carried_out(after, removal(after.get, record)) == files


@FEWER
@given(st.one_of(untidy(), tidy()), CONTENTS)
def test_second_time_there_is_nothing_to_do(given_file, ignored):
    """A second run changes nothing, with the record and in a clone that has none."""
    files = {CLAUDE_SETTINGS: given_file[1].encode()} | ({IGNORE: ignored} if ignored is not None else {})
    after, record = installed(files)
    assert installation(after.get, record, lambda: STARTER).changes == ()
    assert installation(after.get, InstallRecord(), lambda: STARTER).changes == ()


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xef\xbb\xbf", b"{}", b"{\n}\n"])
def test_empty_places(content):
    """No file, an empty file and an empty object each come back as they were."""
    files = {} if content is None else {CLAUDE_SETTINGS: content}
    after, record = installed(files)
    assert carried_out(after, removal(after.get, record)) == files


def test_clone_without_record_gets_rid_of_everything():
    """Where all of it was ours, nothing is left, without the record too."""
    after, _ = installed({})
    assert carried_out(after, removal(after.get, InstallRecord())) == {}
    after, _ = installed({IGNORE: b"x\n"})
    assert carried_out(after, removal(after.get, InstallRecord())) == {IGNORE: b"x\n"}


def test_edits_of_the_owner_stay():
    """What the owner changed after init stays when ours is taken out."""
    after, record = installed({CLAUDE_SETTINGS: b'{\n  "a": 1\n}\n', IGNORE: b"x\n"})
    after[CLAUDE_SETTINGS] = after[CLAUDE_SETTINGS].replace(b'"a": 1', b'"a": 2, "b": 3')
    after[IGNORE] += b"y\n"
    left = carried_out(after, removal(after.get, record))
    assert left == {CLAUDE_SETTINGS: b'{\n  "a": 2, "b": 3\n}\n', IGNORE: b"x\ny\n"}


def test_entries_of_an_older_version_are_replaced():
    """An older entry of ours makes place for the present one, and taking out leaves neither."""
    old = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "agent-sync on-stop", "timeout": 30}]}]}}\n'
    after, record = installed({CLAUDE_SETTINGS: old})
    assert after[CLAUDE_SETTINGS].count(b"on-stop") == 1
    assert carried_out(after, removal(after.get, record)) == {}


def test_record_of_an_older_version_is_used():
    """A file that an older version wrote is rebuilt from what was there before it."""
    before = b'{ "a": 1 }\n'
    after, record = installed({CLAUDE_SETTINGS: before})
    older = after | {CLAUDE_SETTINGS: after[CLAUDE_SETTINGS].replace(b"600", b"900")}
    written = record.of(CLAUDE_SETTINGS, after[CLAUDE_SETTINGS])
    edits = tuple(Edit(edit.at, edit.text.replace("600", "900")) for edit in written.edits)
    now, record = installed(
        older, InstallRecord((Written(CLAUDE_SETTINGS, written.before, digest(older[CLAUDE_SETTINGS]), edits),))
    )
    assert now == after
    assert carried_out(now, removal(now.get, record)) == {CLAUDE_SETTINGS: before}


def test_edited_file_is_renewed_and_still_ours():
    """After edits of the owner and a second init, taking out leaves the edits and nothing of ours."""
    after, record = installed({CLAUDE_SETTINGS: b'{\n  "a": 1\n}\n'})
    after[CLAUDE_SETTINGS] = after[CLAUDE_SETTINGS].replace(b'"a": 1', b'"a": 2').replace(b"600", b"900")
    now, record = installed(after, record)
    assert b'"timeout": 600' in now[CLAUDE_SETTINGS]
    assert carried_out(now, removal(now.get, record)) == {CLAUDE_SETTINGS: b'{\n  "a": 2\n}\n'}


def test_foreign_page_stays():
    """A page of that name that is not ours is neither replaced nor taken out."""
    after, record = installed({CLAIM_PAGE: b"mine\n"})
    assert after[CLAIM_PAGE] == b"mine\n"
    assert "is yours and stays" in installation(after.get, record, lambda: STARTER).notes[0]
    assert carried_out(after, removal(after.get, record)) == {CLAIM_PAGE: b"mine\n"}


def test_page_of_an_older_version_is_renewed():
    """A page some version wrote and nobody changed is replaced; one with other line endings is the same page."""
    after, record = installed({CLAIM_PAGE: with_signature("---\nold\n---\n", after="---\n").encode()})
    assert b"agent-sync claim N" in after[CLAIM_PAGE]
    after[CLAIM_PAGE] = after[CLAIM_PAGE].replace(b"\n", b"\r\n")
    assert installation(after.get, record, lambda: STARTER).changes == ()


def test_changed_files_are_named_when_they_stay():
    """A page or settings file the owner changed stays and is named."""
    after, record = installed({})
    after[CLAIM_PAGE] += b"more\n"
    after[".agent-sync.toml"] += b"number = 2\n"
    plan = removal(after.get, record)
    assert set(carried_out(after, plan)) == {CLAIM_PAGE, ".agent-sync.toml"}
    assert len(plan.notes) == 2


@pytest.mark.parametrize("content", [b"not json", b"\xff\xfe", b"[]"])
def test_unusable_settings_stop_everything(content):
    """A settings file that is no JSON object is refused before anything is planned."""
    with pytest.raises(BadConfig, match="Nothing was written"):
        installation({CLAUDE_SETTINGS: content}.get, InstallRecord(), lambda: STARTER)
    with pytest.raises(BadConfig, match="Nothing was written"):
        removal({CLAUDE_SETTINGS: content}.get, InstallRecord())


def test_settings_file_is_never_replaced():
    """A settings file that is there is the owner's, and nothing is looked up for it."""
    files = {".agent-sync.toml": b"[project]\nnumber = 7\n"}
    plan = installation(files.get, InstallRecord(), lambda: pytest.fail("looked up"))
    assert ".agent-sync.toml" not in [change.path for change in plan.changes]


@pytest.mark.parametrize("before", [None, b"", b"# Ours\n", b"# Ours", b"# Ours\r\n\r\nText\r\n"])
def test_claude_md_section_comes_and_goes_exactly(before):
    """On request CLAUDE.md gets the section on task recovery, once, and it is taken out to the byte."""
    files = {} if before is None else {CLAUDE_MD: before}
    plan = installation(files.get, InstallRecord(), lambda: STARTER, Choice(with_claude_md=True))
    (change,) = [change for change in plan.changes if change.path == CLAUDE_MD]
    assert change.after.startswith(before or b"")
    assert b"agent-sync record status" in change.after
    again = installation({CLAUDE_MD: change.after}.get, InstallRecord(), lambda: STARTER, Choice(with_claude_md=True))
    assert CLAUDE_MD not in [one.path for one in again.changes]
    record = InstallRecord((change.written,)) if change.written else InstallRecord()
    (gone,) = [one for one in removal({CLAUDE_MD: change.after}.get, record).changes if one.path == CLAUDE_MD]
    assert gone.after == before
    without_memory = removal({CLAUDE_MD: change.after + b"More\n"}.get, InstallRecord())
    (cut,) = [one for one in without_memory.changes if one.path == CLAUDE_MD]
    assert b"task recovery" not in cut.after
    assert cut.after.endswith(b"More\n")


SETTINGS_ONLY = Choice(with_hooks=False)


@FEWER
@given(st.one_of(untidy(), tidy()))
def test_settings_only_comes_and_goes_exactly(given_file):
    """Without hooks and pages, rules and status line are merged in, once, and taken out to the byte."""
    files = {CLAUDE_SETTINGS: given_file[1].encode()}
    plan = installation(files.get, InstallRecord(), lambda: STARTER, SETTINGS_ONLY)
    after = carried_out(files, plan)
    assert not [path for path in after if path.startswith(".claude/commands/")]
    assert not any(b"agent-sync on-stop" in content for content in after.values())
    assert b"Bash(agent-sync claim *)" in after[CLAUDE_SETTINGS]
    record = InstallRecord(tuple(change.written for change in plan.changes if change.written))
    assert installation(after.get, record, lambda: STARTER, SETTINGS_ONLY).changes == ()
    assert carried_out(after, removal(after.get, record)) == files


def test_settings_only_keeps_what_is_there():
    """Hooks and pages that were written before stay; a complete set-up has nothing to do."""
    after, record = installed({})
    assert installation(after.get, record, lambda: STARTER, SETTINGS_ONLY).changes == ()
    assert installation(after.get, InstallRecord(), lambda: STARTER, SETTINGS_ONLY).changes == ()
