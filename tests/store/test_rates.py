"""How often somebody may do something in a minute, and what is kept of what was answered to them."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.db.models import Rate, Try
from app.errors import NotFound
from app.kinds.parse import parse_manifest
from app.rights import tokens
from app.store import benchmarks, rates, tries
from tests.cases.walkthrough import MANIFEST


def test_a_minute_s_worth_is_granted_and_then_one_at_a_time(session: Session) -> None:
    """Three a minute are one in twenty seconds, of each key by itself; a refusal takes nothing."""
    granted = [rates.take(session, "a", 3) for _ in range(5)]
    session.execute(update(Rate).where(Rate.key == "a").values(used_until=Rate.used_until - timedelta(seconds=15)))
    soon = rates.take(session, "a", 3)
    session.execute(update(Rate).where(Rate.key == "a").values(used_until=Rate.used_until - timedelta(seconds=5)))
    is_used_up = rates.is_used_up(session, "a", 3)

    assert granted[:3] == [0, 0, 0]
    assert all(18 <= wait_s <= 20 for wait_s in granted[3:])
    assert 3 <= soon <= 5
    assert (is_used_up, rates.is_used_up(session, "a", 4), rates.is_used_up(session, "b", 3)) == (False, False, False)
    assert (rates.take(session, "a", 3), rates.is_used_up(session, "a", 3), rates.take(session, "b", 3)) == (0, True, 0)
    assert not rates.is_used_up(session, "b", 3)


def test_a_pause_saves_nothing_up(session: Session) -> None:
    """Whoever asked for nothing in an hour has a minute's worth, as whoever begins."""
    rates.take(session, "a", 3)
    session.execute(update(Rate).values(used_until=func.clock_timestamp() - timedelta(hours=1)))

    assert [rates.take(session, "a", 3) > 0 for _ in range(4)] == [False, False, False, True]
    session.execute(update(Rate).values(used_until=func.clock_timestamp() - timedelta(hours=1)))
    assert rates.take_many(session, {"a": 1}, 6)["a"] == pytest.approx(10, abs=2)


def test_acts_that_are_over_are_counted_up_to_a_minute(session: Session) -> None:
    """On top of what was used before; more than that makes nobody wait longer."""
    first = rates.take_many(session, {"a": 2, "b": 1}, 6)
    again = rates.take_many(session, {"a": 1, "b": 90}, 6)

    assert first == {"a": pytest.approx(20, abs=2), "b": pytest.approx(10, abs=2)}
    assert again == {"a": pytest.approx(30, abs=3), "b": pytest.approx(60, abs=2)}
    assert max(again.values()) <= 60
    assert (rates.is_used_up(session, "a", 6), rates.is_used_up(session, "b", 6)) == (False, True)
    assert rates.take_many(session, {}, 6) == {}


def test_what_is_free_again_is_forgotten(session: Session) -> None:
    """And what is not, is not."""
    rates.take(session, "a", 1)
    rates.take(session, "b", 1)
    session.execute(update(Rate).where(Rate.key == "b").values(used_until=func.clock_timestamp()))
    rates.forget(session)

    assert session.scalars(select(Rate.key)).all() == ["a"]


def test_the_latest_tries_of_each_token_are_kept(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dry ones and refused ones; stewards see who was refused, and nobody's dry runs."""
    monkeypatch.setattr(tries, "MOST_KEPT", 3)
    ann, bea = (tokens.create_token(session, name, "submitter")[0].id for name in ("ann", "bea"))
    here, there = (
        benchmarks.create_benchmark(session, parse_manifest(text.encode()), text.encode(), ann).benchmark.id
        for text in (MANIFEST, MANIFEST.replace("slug: tiny", "slug: other"))
    )
    sent = [(here, ann, False), (here, ann, True), (there, ann, False), (here, bea, False), (here, ann, False)]
    made = [tries.keep_try(session, where, who, 422, {"detail": f"{at}"}, is_dry=is_dry)
            for at, (where, who, is_dry) in enumerate(sent)]  # fmt: skip
    listed = tries.own_tries(session, ann)

    assert [(each.detail, slug) for each, slug in listed] == [("4", "tiny"), ("2", "other"), ("1", "tiny")]
    assert [each.id for each, _ in tries.own_tries(session, ann, here)] == [made[4], made[1]]
    assert [(each.id, name) for each, name in tries.refused_here(session, here)] == [(made[4], "ann"), (made[3], "bea")]
    found, slug = tries.find_try(session, made[3])
    assert (found.document, slug, found.is_dry, found.token_id) == ({"detail": "3"}, "tiny", False, bea)
    with pytest.raises(NotFound):
        tries.find_try(session, made[0])
    assert session.scalar(select(func.count()).select_from(Try)) == 4
