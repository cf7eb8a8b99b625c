"""Seals over the audit record: whatever its owner rewrites is found, and what may be erased breaks nothing."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from app.db.engine import SessionFactory, make_engine, make_session_factory
from app.jobs.refresh import seal
from app.rights import tokens
from app.store import audit, people
from app.store.audit import Act, AuditCheck, Break
from tests.cases.databases import tampering
from tests.fixtures import Site

N_EVENTS = 12
OLD_EVENT = (
    "INSERT INTO audit_event (id, at, action, subject) OVERRIDING SYSTEM VALUE VALUES (99, '2020-01-01', 'an act', '')"
)


def write(sessions: SessionFactory, n: int = 1, **about: object) -> None:
    """Write events, each in a transaction of its own."""
    for number in range(n):
        with sessions.begin() as session:
            audit.record(session, Act(f"act {number}", "it", **about), 200)  # type: ignore[arg-type]


@pytest.fixture
def sessions(database_url: str) -> Iterator[SessionFactory]:
    """Sessions of the role that serves, on a record of three seals of four events each."""
    engine = make_engine(database_url)
    made = make_session_factory(engine)
    with made.begin() as session:
        for name in ("alice", "bob"):
            tokens.create_token(session, name, "submitter")
    for _ in range(3):
        write(made, N_EVENTS // 3, token_id=1)
        seal(made)
    yield made
    engine.dispose()


def breaks(sessions: SessionFactory, heads: dict[int, str] | None = None) -> list[Break]:
    """Return every break of the record."""
    with sessions() as session:
        return list(AuditCheck(session.connection(), heads).breaks())


def kinds(sessions: SessionFactory) -> list[str]:
    """Return the kinds of the breaks of the record."""
    return [each.kind for each in breaks(sessions)]


def head(sessions: SessionFactory) -> tuple[int, str]:
    """Return what an outsider writes down."""
    with sessions() as session:
        newest = audit.newest(session)
        assert newest is not None
        return newest.number, newest.digest.hex()


def rewrite(database_url: str, statements: Sequence[str]) -> None:
    """Do as the owner what no trigger would let pass."""
    with tampering(database_url) as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_an_untouched_record_is_whole(sessions: SessionFactory) -> None:
    """Three seals, each on the one before."""
    assert breaks(sessions) == []
    assert head(sessions)[0] == 3


REWRITTEN = (
    ("DELETE FROM audit_event WHERE id = 5", "missing", "Event 5: missing under seal 2 of "),
    ("DELETE FROM audit_event WHERE id > 9", "missing", "Events 10 to 12: missing under seal 3 of "),
    ("UPDATE audit_event SET token_id = 2 WHERE id = 6", "changed", "Event 6: changed since being sealed under se"),
    ("UPDATE audit_event SET at = '2020-01-01' WHERE id = 6", "changed", "Event 6: changed since being sealed"),
    ('UPDATE audit_event SET after = \'{"role": "admin"}\' WHERE id IN (2, 3)', "changed", "Events 2 to 3: chan"),
    ("UPDATE audit_event SET salt = '\\x00' WHERE id = 6", "changed", "Event 6: changed since being sealed"),
    ("UPDATE audit_event SET address = '192.0.2.1', address_until = now() WHERE id = 1", "changed", "Event 1: "),
    (
        OLD_EVENT,
        "inserted later",
        "Event 99: in no seal, and awaiting none: inserted beside the record.",
    ),
    ("DELETE FROM audit_seal WHERE number = 2", "seals missing", "Seal 2 is of the chain missing."),
    ("DELETE FROM audit_seal WHERE number < 3", "seals missing", "Seals 1 to 2 are of the chain missing."),
    ("UPDATE audit_seal SET at = at - interval '1 day' WHERE number = 1", "seal changed", "Seal 1 is not what"),
    ("UPDATE audit_seal SET digest = sha256('x') WHERE number = 2", "seal changed", "Seal 2 is not what it was"),
    ("DELETE FROM audit_seal WHERE number = 3", "inserted later", "Events 9 to 12: in no seal"),
    (
        "INSERT INTO audit_unsealed VALUES (500)",
        "missing",
        "Event 500: missing.",
    ),
)
"""What the owner does, the kind of the break, and the beginning of its sentence."""


TABLES = ("audit_event", "audit_seal", "audit_unsealed")
KEEP = [f"CREATE TABLE kept_{table} AS TABLE {table}" for table in TABLES]
PUT_BACK = [statement for table in TABLES for statement in (
    f"DELETE FROM {table}", f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM kept_{table}"  # noqa: S608
)]  # fmt: skip


def test_what_the_owner_rewrites_is_found(sessions: SessionFactory, database_url: str) -> None:
    """Which events, under which seal, and what became of them."""
    rewrite(database_url, KEEP)
    for statement, kind, sentence in REWRITTEN:
        rewrite(database_url, [statement])
        found = breaks(sessions)
        rewrite(database_url, PUT_BACK)

        assert kind in [each.kind for each in found], statement
        assert any(each.text.startswith(sentence) for each in found), found
    assert breaks(sessions) == []


def test_an_old_event_that_is_sealed_is_found_by_its_time(sessions: SessionFactory, database_url: str) -> None:
    """Inserted with triggers off and put among what waits, it is told before its seal and after it."""
    rewrite(
        database_url,
        [
            OLD_EVENT,
            "INSERT INTO audit_unsealed VALUES (99)",
        ],
    )
    assert kinds(sessions) == ["dated"]

    seal(sessions)

    assert [each.text.partition(" under ")[0] for each in breaks(sessions)] == [
        "Event 99: of a time at which nothing was written"
    ]


def test_a_whole_suffix_is_missed_by_whoever_kept_a_seal(sessions: SessionFactory, database_url: str) -> None:
    """Events and seals gone together leave a shorter record that is whole: a kept seal shows it, and so does another
    that took its number."""
    number, digest = head(sessions)
    rewrite(
        database_url,
        [
            "DELETE FROM audit_event WHERE id > 8",
            "DELETE FROM audit_seal WHERE number = 3",
            "DELETE FROM audit_unsealed",
        ],
    )

    assert breaks(sessions) == []
    assert [each.kind for each in breaks(sessions, {number: digest})] == ["seals missing"]
    write(sessions)
    seal(sessions)
    assert [each.kind for each in breaks(sessions, {number: digest})] == ["rewritten"]
    assert breaks(sessions, dict([head(sessions)])) == []


def test_a_seal_exchanged_with_its_digest_does_not_fit_the_next(sessions: SessionFactory, database_url: str) -> None:
    """The owner rewrites an event, its leaf and its seal's own digest: the next seal stands on another one."""
    with tampering(database_url) as connection:
        connection.execute(text("UPDATE audit_event SET token_id = 2 WHERE id = 5"))
        event = connection.execute(text("SELECT * FROM audit_event WHERE id = 5")).one()
        old = connection.execute(text("SELECT * FROM audit_seal WHERE number = 2")).one()
        leaves = audit.leaf(event) + old.leaves[audit.LEAF_BYTES :]
        digest = audit.seal_digest(2, old.at, old.events, leaves, old.previous)
        connection.execute(
            text("UPDATE audit_seal SET leaves = :leaves, digest = :digest WHERE number = 2"),
            {"leaves": leaves, "digest": digest},
        )

    assert [each.text for each in breaks(sessions)] == ["Seal 3 does not follow seal 2: one of them was exchanged."]


def test_a_token_is_erased_and_the_record_stays_whole(sessions: SessionFactory) -> None:
    """A name is in no event."""
    with sessions.begin() as session:
        people.pseudonymise(session, tokens.get_token(session, 1))

    assert breaks(sessions) == []


def test_addresses_are_erased_and_the_record_stays_whole(sessions: SessionFactory, database_url: str) -> None:
    """With the salt of the address; what remains is that there was one. Before its time that is a change."""
    write(sessions, 2, address="192.0.2.7", kept_days=90)
    seal(sessions)
    assert breaks(sessions) == []
    with sessions.begin() as session:
        assert audit.erase_addresses(session) == 0
    rewrite(database_url, ["UPDATE audit_event SET address = NULL, address_salt = NULL WHERE id = 13"])
    assert [each.text[:9] for each in breaks(sessions)] == ["Event 13:"]
    rewrite(database_url, ["UPDATE audit_event SET address = '192.0.2.8' WHERE id = 14"])
    assert [each.text[:16] for each in breaks(sessions)] == ["Events 13 to 14:"]


def test_an_address_whose_time_is_over_leaves_a_digest_that_says_nothing(
    sessions: SessionFactory, database_url: str
) -> None:
    """Its time is written before its seal here, as 90 days are not waited for."""
    write(sessions, 1, address="192.0.2.7", kept_days=90)
    rewrite(database_url, ["UPDATE audit_event SET address_until = now() - interval '1 minute' WHERE id = 13"])
    seal(sessions)

    with sessions.begin() as session:
        assert audit.erase_addresses(session) == 1
        kept = session.execute(
            text("SELECT address, address_salt, address_digest FROM audit_event WHERE id = 13")
        ).one()

    assert (kept.address, kept.address_salt) == (None, None)
    assert kept.address_digest != hashlib.sha256(b"192.0.2.7").digest()
    assert breaks(sessions) == []


def test_an_event_that_is_committed_late_gets_a_later_seal(sessions: SessionFactory) -> None:
    """Its number is lower than those that are sealed already; a number that was rolled back is in no seal."""
    with sessions() as late, sessions() as undone:
        audit.record(late, Act("late", "it"), 200)
        audit.record(undone, Act("undone", "it"), 200)
        undone.rollback()
        write(sessions, 2)
        seal(sessions)
        late.commit()
    seal(sessions)

    with sessions() as session:
        assert [each.events for each in audit.list_seals(session, None, 2)] == [[13], [15, 16]]
    assert breaks(sessions) == []


def test_two_workers_seal_at_once(sessions: SessionFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event is under one seal, and the seals are one chain."""
    monkeypatch.setattr(audit, "MOST_SEALED", 5)
    write(sessions, 60)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: seal(sessions), range(4)))

    assert breaks(sessions) == []
    assert head(sessions)[0] == 3 + 60 // 5
    with sessions() as session:
        assert AuditCheck(session.connection()).checked().n_waiting == 0


def test_a_worker_that_dies_before_its_commit_has_sealed_nothing(sessions: SessionFactory) -> None:
    """The next one seals the same events under the same number."""
    write(sessions, 3)
    with sessions() as dying:
        lost = audit.seal_waiting(dying)
        assert lost is not None
        dying.connection().connection.driver_connection.close()  # type: ignore[union-attr]
        dying.invalidate()
    seal(sessions)

    with sessions() as session:
        newest = audit.newest(session)
        assert newest is not None
        assert (newest.number, newest.events) == (lost.number, [13, 14, 15])
    assert breaks(sessions) == []


def test_what_waits_is_told_with_its_time(sessions: SessionFactory, database_url: str) -> None:
    """Somebody took all seals away and let everything wait anew: it waits since the first event, and a kept seal is
    missing."""
    kept = head(sessions)
    rewrite(database_url, ["DELETE FROM audit_seal", "INSERT INTO audit_unsealed SELECT id FROM audit_event"])

    with sessions() as session:
        checking = AuditCheck(session.connection(), dict([kept]))
        assert [each.kind for each in checking.breaks()] == ["seals missing"]
        checked = checking.checked()
        first = session.execute(text("SELECT min(at) FROM audit_event")).scalar_one()

    assert (checked.n_waiting, checked.waiting_since, checked.head) == (N_EVENTS, first, None)


def test_a_forged_seal_is_refused_by_the_database(sessions: SessionFactory) -> None:
    """The role that serves adds the next one on the last, of now, and no other."""
    columns = "INSERT INTO audit_seal (number, at, events, leaves, previous, digest)"
    for number, at, previous in ((5, "now()", "digest"), (4, "'2020-01-01'", "digest"), (4, "now()", "NULL")):
        forged = f"{columns} SELECT {number}, {at}, '{{}}', '', {previous}, 'd' FROM audit_seal WHERE number = 3"  # noqa: S608
        with sessions() as session, pytest.raises(Exception, match="audit_seal is a chain"):
            session.execute(text(forged))


def test_a_check_reads_batch_after_batch(sessions: SessionFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two events in memory at a time it finds the same."""
    monkeypatch.setattr(audit, "CHECKED_TOGETHER", 2)
    with sessions() as session:
        checking = AuditCheck(session.connection())
        assert list(checking.breaks()) == []
        checked = checking.checked()

    assert (checked.n_seals, checked.n_events, checked.n_waiting) == (3, N_EVENTS, 0)


def test_anybody_reads_the_seals_and_checks_their_chain(site: Site) -> None:
    """With nothing but the answer: each digest is of the other fields, which name the digest before."""
    write(site.sessions, 1)
    seal(site.sessions)
    write(site.sessions, 1)
    seal(site.sessions)

    second, first = site.http.get("/audit/seals.json").json()["seals"]

    for shown in (dict(first), dict(second)):
        digest = shown.pop("digest")
        plain = json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()
        assert hashlib.sha256(plain).hexdigest() == digest
    assert (first["previous"], second["previous"]) == (None, first["digest"])
    assert site.http.get("/audit/seals.json?before=2").json()["seals"] == [first]
    assert second["digest"] in site.http.get("/audit", headers=site.auth("admin")).text
