"""A benchmark brought up to what was sent: evaluated together, published once, and nobody pays for another's fault."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.jobs import evidence
from app.jobs import publish as publishing
from app.jobs.refresh import evaluate_waiting, refresh
from app.store import benchmark_rows, current
from app.values.scores import ScoreTable
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site

TABLE_REFUSED = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.submission_id = {number} THEN RAISE EXCEPTION 'no room for this' USING ERRCODE = '22003'; END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON submission_table FOR EACH ROW EXECUTE FUNCTION refuse()
"""


class Asked:
    """A queue that keeps what it was asked for."""

    def __init__(self) -> None:
        self.benchmarks: list[int] = []

    def defer_refresh(self, _session: Session, benchmark_id: int) -> None:
        """Note the benchmark."""
        self.benchmarks.append(benchmark_id)


def send_entrants(site: Site, names: Sequence[str]) -> list[int]:
    """Send a submission of each entrant."""
    return [int(send(site, GOOD.replace(b"Good", name.encode()))["id"]) for name in names]


def benchmark_of(site: Site) -> int:
    """Return the number of the benchmark."""
    with site.sessions() as session:
        return benchmark_rows.find_benchmark(session, "tiny").id


def statuses(site: Site, numbers: Sequence[int]) -> list[str]:
    """Return the status of each submission."""
    return [site.http.get(f"/submissions/{number}.json").json()["status"] for number in numbers]


def test_submissions_that_wait_share_a_publication(site: Site) -> None:
    """All that wait are evaluated, then published in one snapshot, and nothing is left to ask for."""
    declare(site, "bob")
    queue, numbers = Asked(), [int(send(site, BASE, "bob")["id"]), *send_entrants(site, ["A", "B", "C"])]

    refresh(site.sessions, queue, benchmark_of(site))

    assert statuses(site, numbers) == ["published"] * 4
    assert [s["number"] for s in site.http.get("/benchmarks/tiny/snapshots.json").json()] == [1]
    assert queue.benchmarks == []


def test_what_there_was_no_time_for_is_asked_for_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is evaluated by then is published first: a steady stream of submissions keeps no board waiting."""
    declare(site, "bob")
    send(site, BASE, "bob")
    site.work()
    queue, numbers = Asked(), send_entrants(site, ["A", "B"])
    monkeypatch.setattr(current, "MOST_TOGETHER", 1)

    refresh(site.sessions, queue, benchmark_of(site), within_s=0)

    assert statuses(site, numbers) == ["published", "received"]
    assert queue.benchmarks == [benchmark_of(site)]


def test_evidence_of_one_entrant_is_evaluated_one_after_the_other(site: Site) -> None:
    """A later submission of an entrant waits for the earlier one; those of others go with the first."""
    declare(site)
    first = send_entrants(site, ["A", "B"])
    later = int(send(site, GOOD.replace(b"Good", b"A").replace(b"0.5", b"0.4"))["id"])
    with site.sessions() as session:
        together = current.next_together(session, benchmark_of(site))
        rest = current.next_together(session, benchmark_of(site), together)

    assert (together, rest) == (first, [later])


def test_as_many_go_together_as_rows_allow(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """One submission goes whatever its size; another joins it only up to the limit of rows."""
    declare(site)
    send_entrants(site, ["A", "B", "C"])
    for most, sizes in ((1, [1, 1, 1]), (7, [2, 1]), (100, [3])):
        monkeypatch.setattr(current, "MOST_ROWS_TOGETHER", most)
        tried: list[int] = []
        actual = []
        with site.sessions() as session:
            while together := current.next_together(session, benchmark_of(site), tried):
                tried += together
                actual.append(len(together))

        assert actual == sizes


def test_the_fault_of_one_submission_ends_no_other(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """Evaluated together they fail together; each by itself shows whose fault it is."""
    declare(site)
    numbers = send_entrants(site, ["A", "B", "C"])
    with site.as_owner() as session:
        session.execute(text(TABLE_REFUSED.format(number=numbers[1])))

    with caplog.at_level(logging.CRITICAL):
        assert evaluate_waiting(site.sessions, benchmark_of(site))

    assert statuses(site, numbers) == ["evaluated", "not_admitted", "evaluated"]


def change_while_it_computes(site: Site, monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Have something happen each time that a publication reads its rows, before it goes on with the real ones."""
    read = evidence.read_rows

    def changed_meanwhile(*args: Any) -> ScoreTable:
        change()
        return read(*args)

    monkeypatch.setattr(evidence, "read_rows", changed_meanwhile)
    monkeypatch.setattr(publishing, "ASKING_S", 0.0)


def test_a_publication_gives_way_to_a_withdrawal(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was withdrawn while boards were computed is in no snapshot, and the job publishes what is left."""
    declare(site, "bob")
    send(site, BASE, "bob")
    number, queue = send_entrants(site, ["A"])[0], Asked()

    def withdraw() -> None:
        site.http.post(f"/submissions/{number}/withdraw", json={"reason": "wrong file"}, headers=site.auth())

    change_while_it_computes(site, monkeypatch, withdraw)
    refresh(site.sessions, queue, benchmark_of(site))
    board = site.http.get("/benchmarks/tiny/leaderboards/skill.json").json()

    assert [s["number"] for s in site.http.get("/benchmarks/tiny/snapshots.json").json()] == [1]
    assert "A" not in [row["entrant"] for row in board["rows"]]
    assert queue.benchmarks == []


def test_one_change_after_another_does_not_keep_boards_from_being_published(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After giving way twice a publication is brought to its end, and the job asks to come again."""
    declare(site)
    send(site, BASE, "bob")
    queue, n_changes = Asked(), 0

    def change() -> None:
        nonlocal n_changes
        n_changes += 1
        with site.sessions.begin() as session:
            benchmark_rows.mark_data_changed(session, benchmark_of(site))

    change_while_it_computes(site, monkeypatch, change)
    refresh(site.sessions, queue, benchmark_of(site))

    assert n_changes == 3
    assert [s["number"] for s in site.http.get("/benchmarks/tiny/snapshots.json").json()] == [1]
    assert queue.benchmarks == [benchmark_of(site)]
