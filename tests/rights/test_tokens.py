"""Tokens, whose they are and how long they work, and the sessions that stand for them in a browser."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.db.models import BrowserSession, OwnerLink, Token
from app.errors import Conflict, NotFound
from app.kinds.parse import parse_manifest
from app.rights import sessions, tokens
from app.rights.tokens import Bounds
from app.store import benchmarks, sql
from tests.cases.walkthrough import MANIFEST

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def made(session: Session, *names: str, role: str = "submitter") -> list[Token]:
    """Return new tokens."""
    return [tokens.create_token(session, name, role)[0] for name in names]


def is_about(at: datetime | None, expected: datetime) -> bool:
    """Say whether a time is another, but for how long a test takes."""
    return at is not None and abs(at - expected) < MINUTE


def test_a_token_is_found_by_its_number_or_by_its_name_in_whatever_case(session: Session) -> None:
    """What is no number of a token is asked for as a name, and a name that is taken gets a number behind it."""
    ann, other = made(session, "Ann Lee", "ann lee 2")

    assert [tokens.find_named(session, asked) for asked in (str(ann.id), "ANN LEE", "Ann lee 2")] == [ann, ann, other]
    for nobody in ("Ann", "999999999", "9999999999", "\N{SUPERSCRIPT TWO}", ""):
        with pytest.raises(NotFound):
            tokens.find_named(session, nobody)
    assert tokens.taken_names(session, ["aNN lee", "Bea"]) == {"ann lee"}
    assert [tokens.free_name(session, name) for name in ("ann LEE", "Bea")] == ["ann LEE 3", "Bea"]


def test_a_former_text_works_for_the_hours_that_it_is_given(session: Session) -> None:
    """Asked with it once more, as after an answer that was lost, it stays the former; else the last one becomes it."""
    token, first = tokens.create_token(session, "ann", "submitter")
    _, second = tokens.renew_with_overlap(session, token.id, 2, first)
    _, third = tokens.renew_with_overlap(session, token.id, 3, first)
    works = [tokens.find_token(session, text) is token for text in (first, second, third)]
    _, fourth = tokens.renew_with_overlap(session, token.id, 1, third)

    assert works == [True, False, True]
    assert [tokens.find_token(session, text) is token for text in (first, third, fourth)] == [False, True, True]
    assert is_about(token.former_until, sql.now(session) + timedelta(hours=1))
    # Of this transaction, whose beginning a look-up asks for.
    token.former_until = session.scalars(select(func.now())).one()
    session.flush()
    assert [tokens.find_token(session, text) for text in (third, fourth)] == [None, token]
    token.expires_at = sql.now(session)
    with pytest.raises(Conflict, match=f"Token {token.id} expired on"):
        tokens.renew_with_overlap(session, token.id, 1)


def test_what_signs_no_admin_in_is_said_of_what_is_a_token(session: Session) -> None:
    """Of a text that is none nothing is said: it becomes one."""
    (admin, text), (ann, of_ann) = (tokens.create_token(session, role, role) for role in ("admin", "submitter"))
    said = [tokens.useless_as_admin(session, each) for each in (text, of_ann, "plb_other")]
    admin.revoked_at = sql.now(session)

    assert said == [None, f"token {ann.id} (submitter), whose role is submitter, not admin", None]
    revoked = tokens.useless_as_admin(session, text)
    assert revoked == f"token {admin.id} (admin), which was revoked on {admin.revoked_at:%Y-%m-%d} and stays so"


def test_the_last_token_that_stays_an_admin_s_is_not_revoked(session: Session) -> None:
    """One that ends, or is limited, is none: it makes no other token; nor is one that was revoked before."""
    (last,) = made(session, "root", role="admin")
    ends = sql.now(session) + timedelta(days=1)
    limited = {"reads": Bounds(scopes=["read", "submit"]), "decides": Bounds(scopes=["steward"])}
    for name, bounds in {"ends": Bounds(ends), **limited, "names": Bounds(entrants=["A"])}.items():
        tokens.create_token(session, name, "admin", bounds)
    with pytest.raises(Conflict, match=f"Token {last.id} is the last admin token"):
        tokens.revoke_token(session, last.id)
    tokens.create_token(session, "whole", "admin")

    assert tokens.revoke_token(session, last.id).revoked_at is not None
    assert tokens.revoke_token(session, last.id) is last


def test_linked_tokens_are_one_owner_and_no_chain(session: Session) -> None:
    """The newest link of a token holds in its benchmark; a link to itself takes it back."""
    ann, bea, eve = (token.id for token in made(session, "ann", "bea", "eve"))
    declared = benchmarks.create_benchmark(session, parse_manifest(MANIFEST.encode()), MANIFEST.encode(), ann)
    number = declared.benchmark.id

    def link(token: int, owner: int) -> None:
        tokens.link(session, OwnerLink(benchmark_id=number, token_id=token, owner_id=owner, by_id=ann, reason="one"))

    link(bea, ann)
    for token, owner, words in ((eve, bea, f"Token {bea} is counted as token {ann}"),
                                (ann, eve, f"Other tokens are counted as token {ann}")):  # fmt: skip
        with pytest.raises(Conflict, match=words):
            link(token, owner)
    link(eve, ann)

    assert tokens.owners(session, number) == {bea: ann, eve: ann}
    assert [tokens.owner_of(session, number, each) for each in (ann, bea, eve)] == [ann] * 3
    assert tokens.tokens_beside(session, number, bea) == tokens.tokens_of(session, number, ann) == [ann, bea, eve]
    assert tokens.tokens_of(session, number, bea) == [bea]
    assert (tokens.find_linked(session, "tiny", bea), tokens.find_linked(session, "other", bea)) == (ann, None)
    link(bea, bea)
    assert tokens.owners(session, number) == {eve: ann}
    assert tokens.find_linked(session, "tiny", bea) == bea
    assert tokens.tokens_beside(session, number, bea) == [bea]
    assert tokens.owners(session, number + 1) == {}


def at(session: Session, browser_session: BrowserSession, **times: datetime) -> None:
    """Move times of a session."""
    session.execute(update(BrowserSession).where(BrowserSession.id == browser_session.id).values(times))
    session.refresh(browser_session)


def test_a_session_goes_on_until_its_limits_and_not_at_them(session: Session) -> None:
    """Of its day, of two hours without use, and of ten minutes since its holder showed who they are."""
    (ann,) = made(session, "ann")
    begun, secret = sessions.begin(session, ann)
    now = sql.now(session)

    assert is_about(begun.expires_at, now + timedelta(days=1))
    assert (begun.used_at, begun.expires_at) == (begun.proved_at, begun.proved_at + sessions.LASTS)
    for times, goes_on in (
        ({}, True),
        ({"used_at": now - sessions.IDLE + MINUTE}, True), ({"used_at": now - sessions.IDLE}, False),
        ({"expires_at": now + MINUTE}, True), ({"expires_at": now}, False), ({"ended_at": now}, False),
    ):  # fmt: skip
        at(session, begun, **({"used_at": now, "expires_at": now + sessions.LASTS, "ended_at": None} | times))  # type: ignore[arg-type]
        assert (sessions.find(session, secret) is not None) is goes_on, times
        assert (sessions.list_open(session, ann.id) == [begun]) is goes_on, times
    for ago, is_fresh in (
        (timedelta(), True),
        (sessions.FRESH - MINUTE, True),
        (sessions.FRESH, False),
        (-MINUTE, False),
    ):
        at(session, begun, proved_at=now - ago)
        assert sessions.is_fresh(begun) is is_fresh, ago
    assert sessions.find(session, "another") is None


def test_who_showed_who_they_are_is_no_fresher_than_now(session: Session) -> None:
    """What a provider says of an earlier time counts, and what it says of a time to come does not."""
    (ann,) = made(session, "ann")
    now = sql.now(session)
    begun = [sessions.begin(session, ann, at)[0] for at in (now - SECOND, now + MINUTE, None)]

    assert begun[0].proved_at == now - SECOND
    assert [each.proved_at for each in begun[1:]] == [each.used_at for each in begun[1:]]


def test_the_use_of_a_session_is_noted_every_five_minutes_and_of_a_token_every_hour(session: Session) -> None:
    """Not every request is worth a write."""
    (ann,) = made(session, "ann")
    begun, _ = sessions.begin(session, ann)
    now = sql.now(session)

    tokens.note_use(session, ann)
    assert is_about(ann.used_at, now)
    for every, is_noted in ((sessions.NOTED_EVERY, True), (sessions.NOTED_EVERY - MINUTE, False)):
        at(session, begun, used_at=now - every)
        sessions.note_use(session, begun)
        session.refresh(begun)
        assert is_about(begun.used_at, now) is is_noted
    for every, is_noted in ((tokens.NOTED_EVERY, True), (tokens.NOTED_EVERY - MINUTE, False)):
        ann.used_at = now - every
        tokens.note_use(session, ann)
        assert is_about(ann.used_at, now) is is_noted


def test_all_sessions_of_a_token_end_but_one(session: Session) -> None:
    """Those that go on are counted, and nobody else's end."""
    ann, bea = made(session, "ann", "bea")
    (one, _), (two, secret), (other, _) = (sessions.begin(session, token) for token in (ann, ann, bea))

    assert [each.id for each in sessions.list_open(session, ann.id)] == [two.id, one.id]
    assert sessions.end_all(session, ann.id, one.id) == 1
    assert sessions.find(session, secret) is None
    assert sessions.end_all(session, ann.id) == 1
    assert (sessions.end_all(session, ann.id), sessions.list_open(session, bea.id)) == (0, [other])
