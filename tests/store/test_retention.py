"""Snapshots that end: which do not, what is answered in place of those that did, and the database's own word."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy import select, text

from app.db.models import Snapshot, SnapshotTable
from app.jobs import publish
from app.jobs.refresh import prune
from app.store import retention, snapshots
from tests.cases.databases import tampering
from tests.cases.walkthrough import declare, send
from tests.fixtures import Site, SiteAfter

N = 5


def grow_old(site: Site) -> None:
    """Publish five snapshots of one day forty days ago, and one of today; of their tables each fourth is whole."""
    declare(site)
    with pytest.MonkeyPatch.context() as smaller:
        smaller.setattr(snapshots, "LEAST_BYTES", 0)
        smaller.setattr(snapshots, "MOST_LINKS", 4)
        smaller.setattr(publish, "WORTH", 100)
        for number in range(N + 1):
            rows = f"model,task,MASE\nBase,t1,{1 + number}.0\nBase,t2,2.0\nBase,t3,4.0\n"
            assert send(site, rows.encode())["http"] == 202
            site.work()
    noon = datetime.now(UTC).replace(hour=12) - timedelta(days=40)
    with tampering(site.database_url) as connection:
        moved = text("UPDATE snapshot SET published_at = :noon + number * interval '1 minute' WHERE number <= :n")
        connection.execute(moved, {"noon": noon, "n": N})


@pytest.fixture
def old(site_after: SiteAfter) -> Site:
    """Such a server, published once for all of these."""
    return site_after(grow_old)


def tables(site: Site) -> set[int]:
    """Return the numbers of the snapshots whose boards are stored."""
    with site.sessions() as session:
        query = select(Snapshot.number).join(SnapshotTable, SnapshotTable.snapshot_id == Snapshot.id)
        return set(session.scalars(query.where(SnapshotTable.name == "leaderboard/average")))


def answers(site: Site) -> dict[int, tuple[int, str]]:
    """Return the CSV of the board in each snapshot."""
    found = {}
    for number in range(1, N + 2):
        got = site.http.get(f"/benchmarks/tiny/leaderboards/average.csv?snapshot={number}")
        found[number] = got.status_code, got.text
    return found


def test_first_last_cited_pinned_and_shown_stay_and_the_others_say_since_when(old: Site) -> None:
    """Of five of a day the first and the last; what stays answers the bytes that it did."""
    before = answers(old)
    assert old.http.get("/benchmarks/tiny/cite.bib?snapshot=3").status_code == 200
    assert tables(old) == set(range(1, N + 2))
    with old.sessions() as session:
        ending = retention.find_ending(session, 30)
        assert [each.number for each in ending] == [2, 4]
        assert retention.find_ending(session, 41) == []
        said, (size,) = retention.bytes_freed(session, ending), retention.sizes(session)[1]

    prune(old.sessions, 30)
    prune(old.sessions, 30)
    snapshots.BASES.clear()

    # Of 2, on which 3 rests, nothing is free: what is said is what is gone.
    with old.sessions() as session:
        (now,) = retention.sizes(session)[1]
    assert said == size.snapshot_bytes - now.snapshot_bytes
    assert 0 < said < sum(each.n_bytes for each in ending)

    # 3 rests on 2 and 1, 6 on 5.
    assert tables(old) == {1, 2, 3, 5, 6}
    after = answers(old)
    assert {number: after[number] for number in (1, 3, 5, 6)} == {number: before[number] for number in (1, 3, 5, 6)}
    status, said = after[2]
    assert status == 410
    assert "Snapshot 2 of tiny" in said
    assert "keeps every snapshot for 30 days" in said
    assert old.http.get("/benchmarks/tiny/cite.bib?snapshot=2").status_code == 410
    assert old.http.get("/benchmarks/tiny/snapshots.json").status_code == 200


def test_nobody_keeps_every_snapshot_by_citing_it(old: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are cited in a day here, again and again, and a third the day after; crawlers are told to keep off."""
    monkeypatch.setattr(retention, "MOST_CITED", 2)

    def cited(number: int) -> int:
        return int(old.http.get(f"/benchmarks/tiny/cite.bib?snapshot={number}").status_code)

    assert [cited(number) for number in (2, 3, 4, 2, 3)] == [200, 200, 429, 200, 200]
    refused = old.http.get("/benchmarks/tiny/cite.bib?snapshot=4").json()["detail"]
    assert refused.startswith("2 other snapshots of tiny were cited for the first time in the last day")
    with tampering(old.database_url) as connection:
        connection.execute(text("UPDATE snapshot_pin SET at = at - interval '25 hours'"))
    assert cited(4) == 200
    assert "Disallow: /*/cite.bib" in old.http.get("/robots.txt").text


def test_the_database_ends_nothing_that_is_pinned_or_shown_and_pins_nothing_that_ended(old: Site) -> None:
    """Whoever has the server's own connection cannot either; nor remove tables of what has not ended."""
    old.http.get("/benchmarks/tiny/cite.bib?snapshot=3").raise_for_status()
    prune(old.sessions, 30)
    with psycopg.connect(old.database_url, autocommit=True) as raw:
        numbers: dict[int, int] = dict(raw.execute("SELECT number, id FROM snapshot").fetchall())
        for statement, number in (
            ("INSERT INTO snapshot_end (snapshot_id, reason) VALUES (%s, 'x')", 3),
            ("INSERT INTO snapshot_end (snapshot_id, reason) VALUES (%s, 'x')", N + 1),
            ("INSERT INTO snapshot_pin (snapshot_id, reason) VALUES (%s, 'x')", 2),
            ("DELETE FROM snapshot_table WHERE snapshot_id = %s", 1),
            ("DELETE FROM snapshot_end WHERE snapshot_id = %s", 2),
        ):
            with pytest.raises(psycopg.Error):
                raw.execute(statement, (numbers[number],))


def test_sizes_count_what_is_kept_and_what_a_publication_takes(old: Site) -> None:
    """Before and after an end; the forecast is of what was published lately."""
    with old.sessions() as session:
        in_all, (before,) = retention.sizes(session)
    prune(old.sessions, 30)
    with old.sessions() as session:
        _, (after,) = retention.sizes(session)
    assert (before.n_snapshots, before.n_kept, after.n_kept) == (N + 1, N + 1, 3)
    assert 0 < after.snapshot_bytes < before.snapshot_bytes < in_all
    assert after.n_lately == 1
    assert after.bytes_a_publication > 0
