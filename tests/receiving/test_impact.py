"""What a dry run says an upload would change: what the boards say when it is submitted."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.boards.example import benchmark
from app.boards.methods.mean import Mean
from app.config import Settings
from app.manifest.model import Leaderboard
from app.receiving import impact as impacts
from app.store import benchmarks
from app.turns import Turn, Turns
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, Column, Table, with_rows
from app.web.state import State
from tests.cases.walkthrough import BASE, GOOD, PREREG, declare, send
from tests.fixtures import Site, new_database, open_site

BEST = b"model,task,MASE\nBest,t1,0.1\nBest,t2,0.2\nBest,t3,0.4\n"
PARTIAL = b"model,task,MASE\nPart,t1,0.1\n"
WORSE = b"model,task,MASE\nGood,t1,5.0\nGood,t2,5.0\nGood,t3,5.0\n"


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """A site with two entrants."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as site:
        declare(site)
        for rows in (BASE, GOOD):
            assert send(site, rows)["http"] == 202
        site.work()
        yield site


def impact(site: Site, rows: bytes) -> dict[str, Any]:
    """Return by board what a dry run says."""
    answer = site.http.post(
        "/benchmarks/tiny/submissions?dry_run=true",
        files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth(),
    ).json()
    return {board["board"]: board for board in answer["impact"]["boards"]}


def test_new_rows_stand_in_the_place_of_the_entrant_s_own(published: Site) -> None:
    """Good would fall behind Base; it is not there twice."""
    actual = impact(published, WORSE)["average"]

    assert [(each["entrant"], each["rank"]) for each in actual["entrants"]] == [("Good", 2)]
    assert [(move["entrant"], move["after"]) for move in actual["moves"]] == [("Base", 1)]


def test_what_lacks_tasks_is_told_that_it_has_no_rank(published: Site) -> None:
    """With the reason of the board."""
    actual = impact(published, PARTIAL)["average"]

    assert (actual["entrants"][0]["rank"], "would have no rank" in actual["lines"][0]) == (None, True)


def test_nothing_is_said_where_nobody_asks(published: Site) -> None:
    """A check of every commit need not wait for boards."""
    answer = published.http.post(
        "/benchmarks/tiny/submissions?dry_run=true&impact=false",
        files=[("files", ("r.csv", BEST)), ("prereg", ("p.yaml", PREREG))],
        headers=published.auth(),
    ).json()

    assert "impact" not in answer


def test_a_board_without_anybody_is_told_too(database_url: str) -> None:
    """Whoever comes first would be first, alone; a board that needs a baseline says that it would fail."""
    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
        actual = impact(site, BEST)

    assert [(each["entrant"], each["rank"]) for each in actual["average"]["entrants"]] == [("Best", 1)]
    assert "Base" in actual["skill"]["fails"]


def test_a_fault_of_ours_is_said_as_one(published: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks are there all the same, and so are the other boards."""

    def broken(*_: object) -> None:
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(impacts, "board_without_gaps", broken)
    actual = impact(published, BEST)

    assert all("a fault of this server" in board["lines"][0] for board in actual.values())
    assert "IndexError" not in str(actual)


def test_of_many_boards_the_first_are_computed(published: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are named, and that they are not computed."""
    names = list(impact(published, BEST))
    monkeypatch.setattr(impacts, "MOST_BOARDS", len(names) - 1)
    actual = impact(published, BEST)

    assert list(actual) == names
    assert [name for name, board in actual.items() if board["lines"] == [impacts.LATER]] == names[-1:]


def test_boards_are_computed_for_one_at_a_time(published: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks while another one is answered is told to try again; the checks are there all the same."""
    turns = state_of(published).computing
    monkeypatch.setattr(turns, "_wait_s", 0.01)
    with computing(published, turns):
        answer = published.http.post(
            "/benchmarks/tiny/submissions?dry_run=true",
            files=[("files", ("r.csv", BEST)), ("prereg", ("p.yaml", PREREG))],
            headers=published.auth(),
        ).json()

    assert (answer["admitted"], answer["impact"]["boards"]) == (True, [])
    assert "try again" in answer["impact"]["reason"]


def test_somebody_else_comes_in_between_two_boards(published: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each board has a turn of its own: of two the second waits, and holds no connection meanwhile."""
    state = state_of(published)
    loop, other, held = published.http.portal, Turn.of("somebody"), []
    assert loop is not None

    @contextmanager
    def turn(session: Session) -> Iterator[None]:
        with state.computing_turn("token 1", session):
            held.append(session.in_transaction())
            if len(held) == 1:
                loop.call(state.computing.enter, other)
            yield
        held.append(session.in_transaction())

    with published.sessions() as session:
        declared = benchmarks.find_declared(session, "tiny")

    def computed() -> list[dict[str, Any]]:
        with state.sessions() as session:
            waited = partial(turn, session)
            return list(impacts._in_turns(waited, declared.manifest.leaderboards, board, board))

    def board(spec: Leaderboard, why: str = "") -> dict[str, Any]:
        return {"board": spec.name, "why": why, "others": other.payer}

    monkeypatch.setattr(state.computing, "_wait_s", 0.01)
    answers = loop.call(run_in_threadpool, computed)
    loop.call(state.computing.end, other)

    assert [each["others"] for each in answers] == [None, "somebody"]
    assert "Not computed: Other dry runs" in answers[1]["why"]
    assert held == [True, False]


def test_a_board_that_takes_long_is_not_computed_while_somebody_waits() -> None:
    """By its rows, the pairs of its entrants and its resamples: 250 entrants of 1,000 tasks took twenty seconds."""
    few, many = (benchmark(Mean(name="a", method="mean", metric="error", uncertainty={"n_resamples": n}))
                 for n in (1000, 10_000))  # fmt: skip
    rows = ((250 * 1000, 250, few), (300 * 40, 300, few), (300 * 40, 300, many), (0, 450, few))
    sizes = [impacts.cells_of(n_rows, n, manifest.leaderboards) for n_rows, n, manifest in rows]

    assert [size <= impacts.MOST_CELLS for size in sizes] == [False, True, False, False]


def state_of(site: Site) -> State:
    """Return the state of the web process."""
    state: State = site.http.app.app._app._app._app.state.plumbline  # type: ignore[attr-defined]
    return state


@contextmanager
def computing(site: Site, turns: Turns) -> Iterator[None]:
    """Hold the turn of whoever computes boards."""
    turn, loop = Turn.of("somebody"), site.http.portal
    assert loop is not None
    loop.call(turns.enter, turn)
    yield
    loop.call(turns.end, turn)


def rows(*cells: tuple[str, str, float]) -> ScoreTable:
    """Return rows of entrant, task and value."""
    names, tasks = (tuple(dict.fromkeys(cell[at] for cell in cells)) for at in (0, 1))
    n = len(cells)
    return ScoreTable(
        Coded(names, np.array([names.index(cell[0]) for cell in cells])),
        Coded(tasks, np.array([tasks.index(cell[1]) for cell in cells])),
        ("x",),
        np.array([[cell[2]] for cell in cells]),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.int64),
        np.arange(n),
    )


@pytest.mark.parametrize(
    ("by_task", "expected"),
    [
        (False, {("A", "t1", 9.0), ("B", "t1", 3.0)}),
        (True, {("A", "t1", 9.0), ("A", "t2", 2.0), ("B", "t1", 3.0)}),
    ],
)
def test_rows_are_replaced_by_entrant_or_by_task(by_task: bool, expected: set[tuple[str, str, float]]) -> None:
    """As the evidence of the benchmark supersedes."""
    stored = rows(("A", "t1", 1.0), ("A", "t2", 2.0), ("B", "t1", 3.0))
    merged = with_rows(stored, rows(("A", "t1", 9.0)), by_task=by_task)
    actual = zip(merged.entrant.to_list(), merged.task.to_list(), merged.value("x").tolist(), strict=True)

    assert set(actual) == expected


def board(**ranks: int | None) -> Table:
    """Return a board with the rank of each entrant."""
    columns = (Column("entrant", "Entrant"), Column("rank", "Rank"))
    return Table("leaderboard/main", "Main", columns, tuple(ranks.items()))


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        (board(A=1, B=2), board(A=1, B=2), []),
        (board(A=1, B=2), board(B=1, A=2), [("B", 2, 1), ("A", 1, 2)]),
        (board(A=1, B=2, C=3), board(New=1, A=2, B=2, C=None), [("A", 1, 2), ("C", 3, None)]),
        (board(A=None), board(A=1), [("A", None, 1)]),
        (board(A=1), board(B=1), []),
        (board(), board(A=1), []),
        (None, board(A=1), []),
    ],
)
def test_whoever_was_there_and_has_another_rank_is_moved(
    before: Table | None, after: Table, moves: list[tuple[str, Cell, Cell]]
) -> None:
    """In the order of the board that would be; those that are sent are told by themselves."""
    told = [tuple(each.values()) for each in impacts.moves_between(before, after, {"Sent"})]

    assert told == moves
    sent = [{"entrant": name, "before": was, "after": now} for name, was, now in moves if name != "B"]
    assert list(impacts.moves_between(before, after, {"B"})) == sent


def test_a_difference_is_shown_with_three_lines_around_it() -> None:
    """Which are added, removed or the same, without the names of files; what is no text does not end it."""
    before = b"".join(b"%d\n" % at for at in range(12))
    told = impacts.diff_of(before, before.replace(b"5\n", b"\xff\nfive\n"))

    assert told == [
        ("same", "@@ -3,7 +3,8 @@"),
        *(("same", f" {at}") for at in (2, 3, 4)),
        ("removed", "-5"), ("added", "+\ufffd"), ("added", "+five"),
        *(("same", f" {at}") for at in (6, 7, 8)),
    ]  # fmt: skip
    assert impacts.diff_of(before, before) == []
