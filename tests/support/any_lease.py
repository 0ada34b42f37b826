"""Leases of any content, and what every rule and sentence makes of them."""

import json
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from agent_sync.errors import BadClaim, BadLease
from agent_sync.leases import rules, words
from agent_sync.leases.model import LeaseMode, LeaseState, Tip
from agent_sync.leases.refs.values import Where
from agent_sync.leases.results import LeaseChange
from agent_sync.task.claim import model as claims

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LEASE = {
    "schema_version": 1,
    "issue": 7,
    "holder": {"host": "h", "user": "u", "worktree": "w"},
    "epoch": 1,
    "nonce": "e" * 32,
    "state": "held",
    "acquired_at": "2026-03-01T12:00:00Z",
    "renewed_at": "2026-03-01T12:00:00Z",
    "ttl_s": 3600.0,
    "mode": "auto",
    "branch": "work",
    "pr": None,
    "phase": "coding",
    "prev": "",
    "began": "",
    "serial": 0,
}
NOTE = {"where": "remote", "epoch": 1, "nonce": "e" * 32, "renewed_at": "2026-03-01T12:00:00Z", "ttl_s": 3600.0}
CLAIM = {"schema_version": 1, "issue_number": 7, "phase": "coding"}

texts = st.text(st.characters(), max_size=400) | st.text(st.characters(categories=["Cs", "Cc", "Cf"]), max_size=5)
times = st.datetimes(timezones=st.timezones() | st.just(UTC)).map(lambda at: at.isoformat()) | st.sampled_from(
    ["9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59", "2199-12-31T23:59:59-23:59", "1e300", "now"]
)
numbers = st.integers() | st.floats() | st.sampled_from([10**400, -(10**400), 2**31, 2**63, 1e308, float("inf")])
leaves = st.none() | st.booleans() | numbers | texts | times
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
nested = st.integers(1, 20_000).map(lambda depth: b'{"schema_version":' + b"[" * depth + b"]" * depth + b"}")


def changed(fields: dict[str, object]) -> st.SearchStrategy[bytes]:
    """Return the bytes of JSON with some fields of any kind, as lenient writers put them."""
    return st.dictionaries(st.sampled_from(sorted(fields)) | texts, values, max_size=4).map(
        lambda others: json.dumps(fields | others).encode()
    )


any_lease = st.binary(max_size=300) | nested | changed(LEASE)
any_note = changed(NOTE).map(lambda note: json.dumps(CLAIM).encode()[:-1] + b', "lease": ' + note + b"}")


def meet_lease(content: bytes) -> None:
    """Parsing raises nothing but our own error, and what it returns can be judged, told, renewed and written."""
    try:
        lease = rules.parse(content, issue=7)
    except BadLease:
        return
    for now in (NOW, NOW + timedelta(days=365 * 150), NOW - timedelta(days=365 * 50)):
        rules.is_expired(lease, now, 1e308)
        assert rules.expires_at(lease, now) <= now + timedelta(days=31)
        rules.has_moved(1e12, lease, now)
        assert rules.renewal_due_at(lease.renewed_at, lease.ttl_s, now) <= now + timedelta(days=31)
        again = rules.renewed_lease(Tip("1" * 40, lease, Where.REMOTE), LeaseChange(now, session="x" * 10_000))
        assert rules.parse(again.to_json(), issue=7).to_json() == again.to_json()
        assert again.renewed_at <= now + timedelta(seconds=rules.ALLOWANCE_S)
        rules.ended_lease(Tip("1" * 40, lease, Where.REMOTE), LeaseState.DONE, now)
        rules.objection_to_taking_over(lease, now, branch_moved=False, has_open_pull=False, consent=False)
    for state in LeaseState:
        for mode in LeaseMode:
            said = words.held_by(lease.model_copy(update={"state": state, "mode": mode}))
            assert said.isprintable()
            said.encode()


def meet_note(content: bytes) -> None:
    """A claim file with any lease in it is refused with our own error, or its renewal is due within a month."""
    try:
        claim = claims.parse(content, file="x")
    except BadClaim:
        return
    if claim.lease:
        assert rules.renewal_due_at(claim.lease.renewed_at, claim.lease.ttl_s, NOW) <= NOW + timedelta(days=31)
