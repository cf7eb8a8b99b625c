"""What a board says comes from one matrix of decisions: rows, pairs, letters, sentence and badge never disagree."""

from itertools import combinations, cycle, islice, permutations
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from app.boards.standing import letters_table
from app.boards.tables import BoardTables
from app.boards.task_values import side_by_side
from app.manifest.model import Manifest, Metric
from app.render.against import find_pair, measured_by, verdict
from app.render.syndication import place_of
from app.values.table import Table
from tests.cases.boards import CASES, ENTRANTS, GROUPS, LISTED, SKILL, Case, given, summary_board

ALPHA = 0.05
MATTERS = {
    "mean": "method: mean, smallest_difference: 0.05",
    "borda": f"method: borda, {LISTED}, smallest_difference: 9.0",
    "group-mean": f"method: group_mean, {GROUPS}, smallest_difference: 0.05",
    "skill-score": f"{SKILL}: skill_score, smallest_difference: 0.1",
}
EVERY = (
    *CASES,
    *(Case(f"{name}-within", "minimize", summary_board(board, "minimize")) for name, board in MATTERS.items()),
    *(Case(f"{name}-over-snapshots", "minimize", summary_board(f"{board}, over_snapshots: true", "minimize"))
      for name, board in MATTERS.items()),
)  # fmt: skip


def random_board(case: Case, seed: int) -> BoardTables:
    """Return a board of entrants whose errors differ in mean and in spread, some of them ties."""
    rng = np.random.default_rng([31, seed])
    errors = given().errors
    centres = 0.5 + rng.choice([0.0, 0.02, 0.1]) * rng.normal(size=(len(ENTRANTS), 1))
    spreads = rng.choice([0.005, 0.05, 0.2], size=(len(ENTRANTS), 1))
    drawn = np.abs(centres + 0.04 * rng.normal(size=errors.shape[1]) + spreads * rng.normal(size=errors.shape)) + 1e-3
    if rng.random() < 0.2:
        drawn[1] = drawn[0]
    return case.build(given(errors=drawn))


def better_pairs(pairwise: Table, board: Table) -> set[tuple[Any, Any]]:
    """Return which ordered pairs are separable with the first as the better one, by the ranks of the board."""
    ranks = {row["entrant"]: row["rank"] for row in board.records()}
    named = [(row["entrant_a"], row["entrant_b"]) for row in pairwise.records() if row["separable"]]
    return {(a, b) for a, b in named if ranks[a] < ranks[b]}


def assert_one_matrix(tables: BoardTables, case: Case) -> None:
    """Hold all that a board says to its pairs."""
    board, pairwise = tables.leaderboard, tables.pairwise
    assert pairwise is not None
    rows = {row["entrant"]: row for row in board.records()}
    better, n = better_pairs(pairwise, board), len(rows)
    for name, row in rows.items():
        low, high = row["rank_low"], row["rank_high"]
        assert (low, high) == (1 + sum(b == name for _, b in better), n - sum(a == name for a, _ in better))
        assert low <= row["rank"] <= high
        assert row["may_be_first"] == (low == 1)
        # Without a p only who is behind by the rule for gaps, which makes nobody first.
        assert row["may_be_first"] == (row["first_p"] is not None and row["first_p"] > ALPHA)
        for other, its in rows.items():
            assert high >= its["rank_low"] or (name, other) in better
    assert all((a, c) in better for a, b in better for also, c in better if also == b)
    alike = " ".join(each for each in board.meta["statement"] if "too little to matter" in each)
    told = [each for each in board.meta["statement"] if each not in alike]
    said = " ".join(told)
    assert ("over all snapshots" in said) == bool(board.meta.get("over_snapshots")) or "leads" not in said
    (rest,) = [each for each in told if "ruled out" in each or "shown to be worse than the first" in each]
    first = [name for name in rows if rows[name]["may_be_first"]]
    assert [name for name in rows if str(name) in said.replace(rest, "")] == first
    # A single one that is ruled out is named.
    ruled = [name for name in rows if name not in first]
    assert [name for name in rows if str(name) in rest] == (ruled if len(ruled) == 1 else [])
    assert_groups(list(rows), better, rows)
    assert_within(tables, alike)
    metrics = {str(pairwise.meta.get("metric")): Metric(direction=case.direction)}
    measured = measured_by(pairwise, cast(Manifest, SimpleNamespace(metrics=metrics)))
    for a, b in permutations(map(str, rows), 2):
        sentence = verdict(find_pair(pairwise, a, b), measured)
        names = [name for name in (a, b) if sentence.startswith((f"{name} is better", f"{name}’s"))]
        assert names == [name for name, other in ((a, b), (b, a)) if (name, other) in better], sentence
    shared = {row["entrant"]: set(str(row["letters"])) for row in letters_table(board, pairwise).records()}
    assert all(
        bool(shared[a] & shared[b]) == ((a, b) not in better and (b, a) not in better) for a in rows for b in rows
    )
    notes = side_by_side(
        Table("matrix/error", "Error, entrants by tasks", (), ()), list(map(str, rows)), pairwise
    ).notes
    for a, b in combinations(map(str, rows), 2):
        begins = (f"{a} is better than ", f"The data do not tell {a} from ")
        (said_of,) = [note for note in notes if note.startswith(begins) and b in note]
        assert said_of.startswith(f"{a} is better") == ((a, b) in better)
    for name, row in rows.items():
        low, high = row["rank_low"], row["rank_high"]
        assert f"({low})" in (words := place_of(board, str(name), is_current=True, snapshot=1).words) or (
            f"({low}–{high})" in words
        )


def assert_groups(names: list[Any], better: set[tuple[Any, Any]], rows: dict[Any, Any]) -> None:
    """A group ends only where all above, by rank, are better than all below."""
    ends = [all((a, b) in better for a in names[:at] for b in names[at:]) for at in range(1, len(names))]
    assert [rows[name]["group"] for name in names] == list(1 + np.cumsum([0, *ends]))


def assert_within(tables: BoardTables, said: str) -> None:
    """Who is said to differ from the first by less than matters does so from all who share the first rank."""
    board, pairwise = tables.leaderboard, tables.pairwise
    assert pairwise is not None
    found = board.meta.get("equivalence")
    assert (found is not None) == ("verdict" in pairwise.column_names())
    if found is None:
        return
    pairs = {(row["entrant_a"], row["entrant_b"]): row for row in pairwise.records()}
    words = {pair: row["verdict"] for pair, row in pairs.items()}
    ranks = {row["entrant"]: row["rank"] for row in board.records()}
    leaders = [name for name, rank in ranks.items() if rank == 1]
    within = [
        name for name in ranks if name not in leaders and all(pairs[leader, name]["within"] for leader in leaders)
    ]
    alike = [name for name in within if all(words[leader, name] == "equivalent" for leader in leaders)]
    assert (found["to_first"], found["worse_by_less"]) == (alike, [name for name in within if name not in alike])
    assert [name for name in ranks if str(name) in said] == within
    assert all(words[a, b] == words[b, a] for a, b in words if words[a, b] in ("equivalent", "undecided"))
    assert all(row["within"] == (row["verdict"] == "equivalent") for row in pairs.values() if row["separable"] is False)


@pytest.mark.parametrize("name", MATTERS)
def test_what_holds_over_all_snapshots_is_decided_more_cautiously(name: str) -> None:
    """Of every method that may declare it: what is said of all snapshots is not what is decided for one."""
    ways = (MATTERS[name], f"{MATTERS[name]}, over_snapshots: true")
    once, always = (random_board(Case(name, "minimize", summary_board(way, "minimize")), 1) for way in ways)
    assert once.pairwise is not None
    assert always.pairwise is not None
    found = {
        (row["entrant_a"], row["entrant_b"]): (row["p_value"], held["p_value"])
        for row, held in zip(once.pairwise.records(), always.pairwise.records(), strict=True)
        if row["p_value"] is not None
    }

    assert all(p <= held for p, held in found.values())
    assert any(p < held for p, held in found.values())
    assert (once.leaderboard.meta.get("over_snapshots"), always.leaderboard.meta["over_snapshots"]) == (None, True)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case.name}-{case.direction}")
def test_everything_that_a_board_says_is_read_from_its_pairs(case: Case) -> None:
    """Of every method: rank sets, groups, who may be first, the sentences of board and pair, the letters, the badge."""
    assert_one_matrix(random_board(case, EVERY.index(case)), case)


@pytest.mark.slow
def test_so_it_is_on_a_thousand_boards() -> None:
    """Of every method in turn."""
    for seed, case in enumerate(islice(cycle(EVERY), 1_000)):
        assert_one_matrix(random_board(case, seed), case)
