"""What a publication says that it changed: who came, went on and left, and whose rank is another."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.boards.claims import COLUMNS
from app.jobs.claims_after import AFTER, keep_after, tell_after
from app.jobs.publish import PublishedState, list_changes, ranks_by_board
from app.values.table import Column, Table


def state(standings: dict[str, list[int]], digest: str = "d", version: int = 1, **more: Any) -> PublishedState:
    """Return a published state; ranks are by board and entrant."""
    return PublishedState(digest, version, standings, **({"ranks": {}} | more))


def ranks(**of: int) -> dict[str, dict[str, int]]:
    """Return ranks on the only board."""
    return {"main": of}


def moved(entrant: str, before: int | None, after: int | None, **more: str) -> dict[str, Any]:
    """Return the change of a rank."""
    return {"kind": "rank", "board": "main", "entrant": entrant, "from": before, "to": after, **more}


CHANGES: dict[str, tuple[PublishedState | None, PublishedState, list[dict[str, Any]]]] = {
    "the first publication": (
        None, state({"B": [2], "A": [1, 3]}, "d", 4, ranks=ranks(A=1, B=2)),
        [{"kind": "entered", "entrant": "A", "submission": 3}, {"kind": "entered", "entrant": "B", "submission": 2}]),
    "nothing": (state({"A": [1]}, ranks=ranks(A=1)), state({"A": [1]}, ranks=ranks(A=1)), []),
    "the same manifest as another version": (state({}, "d", 1), state({}, "d", 2), []),
    "another manifest": (state({}, "c", 1), state({}, "d", 3), [{"kind": "manifest", "version": 3, "was": 1}]),
    "newer evidence, some that is added, and the same in another order": (
        state({"A": [1, 2], "B": [3], "C": [4, 5]}), state({"A": [2, 7], "B": [3, 6], "C": [5, 4]}),
        [{"kind": "superseded", "entrant": "A", "submission": 7, "was": 2},
         {"kind": "extended", "entrant": "B", "submission": 6, "was": 3},
         {"kind": "superseded", "entrant": "C", "submission": 4, "was": 5}]),
    "who left and who was withdrawn": (
        state({"A": [1], "B": [2, 3], "C": [4]}, ranks=ranks(A=1, B=2, C=3)),
        state({"C": [4]}, ranks=ranks(C=3), withdrawn={"B", "D"}),
        [{"kind": "left", "entrant": "A", "was": 1}, {"kind": "withdrawn", "entrant": "B", "was": 3}]),
    "ranks of who stays": (
        state({"A": [1], "B": [2], "C": [3]}, ranks=ranks(A=1, B=2, C=3)),
        state({"A": [1], "B": [2], "C": [3], "D": [4]}, ranks=ranks(A=2, B=1, C=3, D=4),
              statements={"main": ("B is first.", "Or A.")}),
        [{"kind": "entered", "entrant": "D", "submission": 4},
         moved("A", 1, 2), moved("B", 2, 1, statement="B is first. Or A.")]),
    "the first without a statement, and who lost a rank": (
        state({"A": [1], "B": [2]}, ranks=ranks(A=2, B=1)), state({"A": [1], "B": [2]}, ranks=ranks(A=1)),
        [moved("A", 2, 1), moved("B", 1, None)]),
    "a new board": (
        state({"A": [1]}, ranks={}), state({"A": [1]}, ranks=ranks(A=1)), [moved("A", None, 1)]),
    "a board that is gone": (state({"A": [1]}, ranks=ranks(A=1)), state({"A": [1]}), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_between_two_states_is_listed(name: str) -> None:
    """By kind and name: the manifest, who entered, whose evidence is another, who left, and the ranks of who stays."""
    before, after, changes = CHANGES[name]

    assert list_changes(before, after) == changes


def test_ranks_are_those_of_boards() -> None:
    """Whoever has none is not there; a table that is no board, or could not be computed, has none."""
    columns = tuple(Column(name, name) for name in ("rank", "entrant"))
    board = Table("leaderboard/main", "Main", columns, ((1, "A"), (None, "B"), (2.0, "C"), ("–", "D")))
    others = [Table("leaderboard/broken", "Broken", (), ()), Table("pairs/main", "Pairs", columns, ((1, "A"),)),
              Table("leaderboard/odd", "Odd", columns[1:], (("A",),))]  # fmt: skip

    assert ranks_by_board([board, *others]) == {"main": {"A": 1, "C": 2}, "broken": {}, "odd": {}}


AT = datetime(2026, 1, 31, 10, tzinfo=UTC)
EARLIER, EARLIEST = AT - timedelta(seconds=1), AT - timedelta(days=1)
SAID = "registered 2026-01-31 10:00:00 UTC): nobody can say that it was not chosen after seeing it."
OF_PAIR = {"source": "s", "entrant": "A, B", "first": "A", "second": "B"}


def claim(**given: Any) -> tuple[Any, ...]:
    """Return a row of the claims."""
    return tuple((dict.fromkeys(column.name for column in COLUMNS) | given).values())


TOLD: dict[str, tuple[dict[str, Any], dict[str, tuple[datetime, str]], str | None]] = {
    "evidence of the same instant": (OF_PAIR, {"A": (AT, "A")}, None),
    "evidence of one before": (
        OF_PAIR, {"A": (AT, "A"), "B": (EARLIER, "B")},
        f"{AFTER}B was here already (first on 2026-01-31 09:59:59 UTC; {SAID}"),
    "evidence of both, the first of either": (
        OF_PAIR, {"B": (EARLIEST, "B"), "A": (EARLIER, "A"), "C": (EARLIEST - timedelta(1), "C")},
        f"{AFTER}A and B was here already (first on 2026-01-30 10:00:00 UTC; {SAID}"),
    "under another name": (
        OF_PAIR, {"A": (EARLIER, "old")},
        f"{AFTER}A (results in common, as old) was here already (first on 2026-01-31 09:59:59 UTC; {SAID}"),
    "beside another note": (
        OF_PAIR | {"note": "all equal"}, {"A": (EARLIER, "A")},
        f"all equal; {AFTER}A was here already (first on 2026-01-31 09:59:59 UTC; {SAID}"),
    "in place of what it said": (OF_PAIR | {"note": f"all equal; {AFTER}A: so"}, {}, "all equal"),
    "words that only begin so": (OF_PAIR | {"note": f"odd {AFTER}A: so"}, {}, f"odd {AFTER}A: so"),
    "conditions of one entrant, which are no entrants": (
        {"source": "s", "entrant": "C", "first": "A", "second": "B"}, {"A": (EARLIER, "A"), "C": (EARLIER, "C")},
        f"{AFTER}C was here already (first on 2026-01-31 09:59:59 UTC; {SAID}"),
    "one side": (
        {"source": "s", "entrant": "A", "first": "A"}, {"A": (EARLIER, "A")},
        f"{AFTER}A was here already (first on 2026-01-31 09:59:59 UTC; {SAID}"),
    "what nothing decides": (
        {"source": "s", "first": "A", "second": "B"}, {"A": (EARLIER, "A"), "None": (EARLIER, "None")}, None),
    "a source without a time": (OF_PAIR | {"source": "manifest"}, {"A": (EARLIER, "A")}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_a_claim_that_came_after_evidence_says_so(name: str) -> None:
    """Of whom, since when, and in place of what was said of it before."""
    given, first_here, note = TOLD[name]
    row = claim(**given)
    (told,) = tell_after([row], {"s": AT}, first_here)

    assert told == claim(**(given | {"note": note}))


@pytest.mark.parametrize(
    ("now", "published", "kept"),
    [
        (None, f"{AFTER}A: so", f"{AFTER}A: so"),
        ("fresh", f"all equal; {AFTER}A: so", f"fresh; {AFTER}A: so"),
        (f"{AFTER}B: so", "all equal", None),
        ("fresh", f"odd {AFTER}A: so", "fresh"),
    ],
)
def test_a_claim_that_is_decided_again_keeps_what_was_published_of_its_time(
    now: str | None, published: str, kept: str | None
) -> None:
    """And nothing else of the published note."""
    assert keep_after(claim(note=now), claim(note=published)) == claim(note=kept)
