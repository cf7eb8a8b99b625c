"""Transactions that the database breaks off."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.db.engine import MAX_ATTEMPTS, is_broken_off, run_in_transaction
from app.store.sql import take_turns
from plumbline.retries import RETRY_AFTER_S
from tests.fixtures import Site

FAIL = "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'deadlock_detected'; END $$"


def test_of_two_transactions_that_wait_for_each_other_both_are_done(site: Site) -> None:
    """One is broken off by the database and done again."""
    both_hold_one = Barrier(2)
    attempts = []

    def cross(first: str, second: str) -> None:
        def work(session: Session) -> None:
            attempts.append(first)
            take_turns(session, first)
            if attempts.count(first) == 1:
                both_hold_one.wait(10)
            take_turns(session, second)

        run_in_transaction(site.sessions, work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(cross, ("left", "right"), ("right", "left")))

    assert len(attempts) == 3


def test_what_is_broken_off_every_time_is_given_up(site: Site) -> None:
    """After a few attempts the error is the caller's."""
    attempts = []

    def work(session: Session) -> None:
        attempts.append(1)
        session.execute(text(FAIL))

    with pytest.raises(DBAPIError) as given_up:
        run_in_transaction(site.sessions, work)

    assert is_broken_off(given_up.value)
    assert len(attempts) == MAX_ATTEMPTS


def test_another_error_is_not_tried_again(site: Site) -> None:
    """Doing it again would not help."""
    attempts = []

    def work(session: Session) -> None:
        attempts.append(1)
        session.execute(text("SELECT 1 / 0"))

    with pytest.raises(DBAPIError):
        run_in_transaction(site.sessions, work)

    assert len(attempts) == 1


def test_a_request_that_was_broken_off_is_told_so_and_when_to_come_back(site: Site) -> None:
    """The database does answer, and the answer does not say otherwise."""
    with site.as_owner() as session:
        session.execute(
            text(
                "CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'deadlock_detected'; END $$"
            )
        )
        session.execute(text("CREATE TRIGGER break_off BEFORE INSERT ON token EXECUTE FUNCTION break_off()"))

    answer = site.http.post("/tokens", json={"name": "x", "role": "submitter"}, headers=site.auth("admin"))

    assert (answer.status_code, answer.headers["retry-after"]) == (503, str(RETRY_AFTER_S))
    assert "does not answer" not in answer.json()["detail"]
