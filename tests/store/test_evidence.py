"""Blocks of rows: the same as the rows that they are made of, from whichever side they are made."""

import itertools
from functools import partial

import numpy as np
import pytest
from sqlalchemy import select, text, update

from app.db.models import Entry, PackedRows, Score, Submission
from app.store.row_blocks import RowBlock, pack, pack_block, unpack, unpack_block
from app.store.rows import read_records, read_scores, rebuild_submission, unowned_pairs
from tests.cases import publications
from tests.cases.rows_oracle import flat, records_by_rows, scores_by_rows
from tests.cases.series_runs import COLUMNS
from tests.fixtures import Site, SiteAfter

ODD_SUMMARY = publications.table(
    publications.SUMMARY_COLUMNS,
    [
        ["Zed", "t3", "True", "1e-400", "", "-0.0", "", "", ""],
        ["Ann", "t2", "False", "5e-324", "1e50", "7", "1", "2", "3"],
        ["Zed", "t1", "False", "", "-1e50", "1", "", "4", ""],
    ],
)
PART_OF_TASKS = publications.table(
    publications.EPISODE_COLUMNS, [["lift", s, e, 9 * s + e, 1, e, "left"] for s in (1, 2) for e in (0, 1)]
)
ODD_RUN = publications.table(
    COLUMNS,
    [
        row
        for name in ("RS", "GPH")
        for row in publications.run_rows(
            name,
            {
                (r, m): "" if r == "r2" else "0.5"
                for r, m in itertools.product(("r2", "r1"), publications.SERIES_METRICS)
            },
        )
    ],
)
SENT = {
    "summary": (
        publications.SUMMARY.replace("TASKS", publications.DECLARED),
        [publications.good_summary("Base"), ODD_SUMMARY],
    ),
    "episodes": (publications.EPISODES, [publications.good_episodes(), PART_OF_TASKS]),
    "series": (publications.SERIES, [publications.good_run("DFA"), ODD_RUN]),
}


def arrive(site: Site, kind: str) -> None:
    """Send both files of a kind and have them evaluated."""
    manifest, files = SENT[kind]
    slug = publications.begin(site, manifest)
    for at, content in enumerate(files):
        name = "metrics.csv" if kind == "series" else f"f{at}.csv"
        entrant = "Arm" if kind == "episodes" else None
        answer = publications.send(site, slug, name, content, entrant=entrant)
        assert answer.status_code == 202, answer.text
    site.work()


ARRIVED = {kind: partial(arrive, kind=kind) for kind in SENT}


def pairs_of(site: Site) -> list[tuple[int, int]]:
    """Return (submission, entrant) of each entry."""
    with site.sessions() as session:
        return list(session.execute(select(Entry.submission_id, Entry.entrant_id).order_by(Entry.submission_id)).all())


@pytest.mark.parametrize("kind", SENT)
def test_blocks_are_the_rows_that_they_are_made_of(site_after: SiteAfter, kind: str) -> None:
    """Score tables out of blocks are those that the definition makes of the rows, word by word and bit by bit.

    Making blocks anew from stored rows changes no byte, so that a rebuild moves no published number.
    """
    site = site_after(ARRIVED[kind])
    pairs = pairs_of(site)

    with site.sessions.begin() as session:
        columns = ["S", "E", "force", "success", "mae", "of nobody"]
        assert flat(read_scores(session, pairs, columns)) == flat(scores_by_rows(session, pairs, columns))
        assert flat(read_records(session, pairs)) == flat(records_by_rows(session, pairs))
        assert [rebuild_submission(session, number) for number in sorted({number for number, _ in pairs})] == [
            False
        ] * 2


def test_evidence_that_was_taken_over_task_by_task_is_left_out(site_after: SiteAfter) -> None:
    """An entry that counts for one task gives the rows of that task."""
    site = site_after(ARRIVED["episodes"])
    pairs = pairs_of(site)
    with site.sessions.begin() as session:
        task = session.scalars(select(Score.task_id).limit(1)).one()
        session.execute(update(Entry).values(task_ids=[task]))

        rows = read_scores(session, pairs[:1], ["force"])

        assert len(rows.task.words) == 1
        assert flat(rows) == flat(scores_by_rows(session, pairs[:1], ["force"]))


OTHER_FORMAT = "UPDATE evidence SET content = replace(content::text, '666f726d6174223a31', '666f726d6174223a39')::bytea"


def test_a_lost_block_is_made_of_the_rows(site_after: SiteAfter) -> None:
    """Whoever reads where a block is missing, or was packed by another version, gets the same rows.

    Entrants of a submission without an entry are known from its rows, too.
    """
    site = site_after(ARRIVED["series"])
    pairs = pairs_of(site)
    with site.as_owner() as session:
        before = flat(read_records(session, pairs))
        session.execute(text(OTHER_FORMAT))
        assert flat(read_records(session, pairs)) == before
        session.execute(text("DELETE FROM evidence"))
        assert flat(read_records(session, pairs)) == before
        session.execute(text("DELETE FROM entry WHERE entrant_id = :number"), {"number": pairs[0][1]})
        assert unowned_pairs(session, pairs[0][0]) == [pairs[0]]


def test_a_broken_block_is_mended_by_a_rebuild(site_after: SiteAfter) -> None:
    """Only what differs from the rows is written, and then it is what it was."""
    site = site_after(ARRIVED["summary"])
    pairs = pairs_of(site)
    with site.as_owner() as session:
        before = session.scalars(
            select(PackedRows.content).order_by(PackedRows.submission_id, PackedRows.entrant_id)
        ).all()
        session.execute(text("DELETE FROM evidence WHERE submission_id = :number"), {"number": pairs[-1][0]})

        actual = [rebuild_submission(session, number) for number in sorted({number for number, _ in pairs})]

        assert actual == [False, True]
        after = session.scalars(
            select(PackedRows.content).order_by(PackedRows.submission_id, PackedRows.entrant_id)
        ).all()
        assert after == before


def test_every_submission_with_rows_has_its_blocks_at_once(site: Site) -> None:
    """Blocks come in the transaction of the rows, before any job has run."""
    slug = publications.begin(site, SENT["summary"][0])
    number = publications.send(site, slug, "f.csv", ODD_SUMMARY).json()["id"]

    with site.sessions() as session:
        kept = session.scalars(select(PackedRows.content).where(PackedRows.submission_id == number)).all()
        n_rows = session.scalars(select(Submission.n_rows).where(Submission.id == number)).one()
        assert sum(len(block) for content in kept if (block := unpack_block(content)) is not None) == n_rows == 3


def test_arrays_come_back_as_they_were_packed() -> None:
    """Shapes, negative numbers, one value repeated, NaN and the sign of zero; nothing of an empty one."""
    arrays = {
        "few": np.array([[-1, 2], [3, 300]]),
        "same": np.full((2, 3), 7),
        "wide": np.array([2**40, -1]),
        "floats": np.array([np.nan, -0.0, 1e308, 5e-324]),
        "zeros": np.array([0.0, -0.0]),
        "flags": np.array([True, False]),
        "nothing": np.empty((0, 4)),
    }

    document, back = unpack(pack({"about": [1, None]}, arrays))

    assert document == {"about": [1, None]}
    assert {name: array.tolist() for name, array in arrays.items() if name != "floats"} == {
        name: array.tolist() for name, array in back.items() if name != "floats"
    }
    assert back["nothing"].shape == (0, 4)
    assert np.array_equal(np.signbit(back["zeros"]), [False, True])
    assert back["floats"].tobytes() == arrays["floats"].tobytes()


def test_a_block_of_few_rows_is_unpacked_once_and_written_by_nobody() -> None:
    """The next publication asks for nearly all of the same blocks, and shares their arrays with this one."""
    rows = np.arange(3)
    content = pack_block(RowBlock(columns=("x",), values=np.ones((3, 1)), position=rows, file=rows, row=rows, task=rows,
                                  leaked=np.zeros(3, dtype=np.bool_)))  # fmt: skip

    first, again = unpack_block(content), unpack_block(bytes(bytearray(content)))

    assert first is again
    assert first is not None
    with pytest.raises(ValueError, match="read-only"):
        first.values[0, 0] = 2.0
