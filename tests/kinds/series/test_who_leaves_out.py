"""Who leaves out, fails, or says nothing on a board of weighted ranks: nothing of it gains a place."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import WeightedRank
from app.kinds.parse import parse_manifest
from app.values.scores import Coded, ScoreTable

N = 24
METRICS = ("mae", "rmse", "coverage@0.95", "validity_rate")
WEIGHTS = "{mae: 0.3, rmse: 0.2, coverage_error@0.95: 0.3, validity_rate: 0.2}"
Row = dict[str, object]


def cells(base: float, *, fails: Sequence[int] = (), empty: Mapping[str, Sequence[int]] | None = None) -> np.ndarray:
    """Return an estimator's cells [n_records, n_metrics]: errors around `base`, NaN with validity 0 where it fails.

    `empty` are records on which a metric is left out although the estimate is valid.
    """
    errors = base + 0.01 * (np.arange(N) % 5) + (np.arange(N) >= N // 2) * base
    own = np.column_stack([errors, errors**2, np.ones(N), np.ones(N)])
    own[list(fails)] = [np.nan, np.nan, np.nan, 0.0]
    for metric, records in (empty or {}).items():
        own[list(records), METRICS.index(metric)] = np.nan
    return own


def board(estimators: Mapping[str, np.ndarray], weights: str = WEIGHTS) -> list[Row]:
    """Return the rows of a board with a declared grid of the records."""
    manifest = parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [mae, rmse, coverage@0.95, coverage_error@0.95, validity_rate]}}
tasks: {{open: true}}
grid: {{items: [{", ".join(f"r{at}" for at in range(N))}]}}
leaderboards: [{{name: main, method: weighted_rank, weights: {weights}, uncertainty: {{n_resamples: 200}}}}]
""".encode()
    )
    n = len(estimators)
    values = np.vstack(list(estimators.values()))
    listed = [" ".join(m for m, value in zip(METRICS, row, strict=True) if value == value) for row in values.tolist()]
    words = sorted(set(listed))
    table = ScoreTable(
        entrant=Coded(tuple(estimators), np.repeat(np.arange(n), N)),
        task=Coded(("s",), np.zeros(n * N, dtype=np.int64)),
        columns=METRICS,
        values=values,
        leaked=np.zeros(n * N, dtype=np.bool_),
        file=np.zeros(n * N, dtype=np.int64),
        row=np.arange(n * N),
        item=Coded(tuple(f"r{at}" for at in range(N)), np.tile(np.arange(N), n)),
        recorded={"metrics": Coded(tuple(words), np.array([words.index(each) for each in listed]))},
    )
    spec = manifest.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    return [dict(row) for row in compute(manifest, spec, table).leaderboard.records()]


def ranks(rows: Sequence[Row]) -> dict[str, object]:
    """Return each estimator's rank."""
    return {str(row["entrant"]): row["rank"] for row in rows}


@pytest.mark.parametrize("order", ["ABC", "CBA", "BCA"])
def test_who_fails_everywhere_is_last(order: str) -> None:
    """A fails on 4 of 24, B on 6, C on all: lrdbench's 1, 2, 3, in any order of arrival; all say how many."""
    runs = {"A": cells(0.1, fails=range(4)), "B": cells(0.2, fails=range(6)), "C": cells(0.05, fails=range(N))}
    rows = board({name: runs[name] for name in order})

    assert ranks(rows) == {"A": 1, "B": 2, "C": 3}
    assert {row["entrant"]: row["covered"] for row in rows} == {"A": "84 of 96", "B": "78 of 96", "C": "24 of 96"}


@pytest.mark.parametrize("is_first", [True, False])
def test_to_leave_out_whole_components_wins_nothing(is_first: bool) -> None:
    """Four honest ones fail on one record each; who leaves all errors and coverages out is apart."""
    honest = {f"H{at}": cells(0.1 + at / 10, fails=[at]) for at in range(4)}
    everywhere = {metric: range(N) for metric in METRICS[:3]}
    sly = {"Sly": cells(0.01, empty=everywhere)}
    rows = board({**sly, **honest} if is_first else {**honest, **sly})

    assert ranks(rows) == {"H0": 1, "H1": 2, "H2": 3, "H3": 4, "Sly": None}


def test_nobody_is_ranked_above_who_delivered_more_and_left_something_out() -> None:
    """Each honest one has one error without a value and without a failure; who declares everything failed is last."""
    honest = {f"H{at}": cells(0.1 + at / 10, empty={"mae": [at]}) for at in range(4)}
    rows = board({**honest, "Sly": cells(0.01, fails=range(N))})
    alone = board({**honest, "Sly": cells(0.01, empty={metric: range(N) for metric in METRICS[:3]})})

    assert ranks(rows) == {"H0": 1, "H1": 2, "H2": 3, "H3": 4, "Sly": 5}
    assert set(ranks(alone).values()) == {None}


HARD = range(N // 2, N)


def test_a_null_without_a_failure_has_no_rank() -> None:
    """And a record left out altogether has none either: both are absent, whatever the mean of the others is."""
    rows = board({"A": cells(0.1), "B": cells(0.2), "Null": cells(0.09, empty={"mae": HARD, "rmse": HARD})})

    assert ranks(rows) == {"A": 1, "B": 2, "Null": None}


def test_who_fails_on_all_that_is_hard_is_not_first() -> None:
    """Its means are better, so lrdbench ranks it first; with the last rank in each gap it is behind, and says so."""
    rows = {row["entrant"]: row for row in board({"A": cells(0.1), "B": cells(0.3), "Picky": cells(0.09, fails=HARD)},
                                                 "{mae: 0.5, rmse: 0.5}")}  # fmt: skip

    assert (rows["Picky"]["rank"], rows["Picky"]["covered"]) == (1, "24 of 48")
    assert (rows["Picky"]["may_be_first"], rows["Picky"]["rank_low"]) == (False, 2)
    assert rows["A"]["may_be_first"] is True
    assert (
        rows["Picky"]["first_resamples_share"],
        rows["A"]["first_resamples_share"],
        rows["B"]["first_resamples_share"],
    ) == (0.0, None, None)


def test_of_two_with_a_failure_each_the_better_one_may_be_first() -> None:
    """DFA fails everywhere, DMA and RS once each; RS has the worse errors, and gains nothing by what both lack."""
    dma, rs = cells(0.1, fails=[1]), cells(0.2, fails=[0])
    dma[2, METRICS.index("validity_rate")] = 0.9
    rows = {row["entrant"]: row for row in board({"DFA": cells(0.05, fails=range(N)), "DMA": dma, "RS": rs})}

    assert {name: row["covered"] for name, row in rows.items()} == {
        "DMA": "93 of 96", "RS": "93 of 96", "DFA": "24 of 96"
    }  # fmt: skip
    assert (rows["DMA"]["rank"], rows["DMA"]["rank_low"], rows["DMA"]["may_be_first"]) == (1, 1, True)
    assert (rows["RS"]["rank"], rows["DMA"]["first_resamples_share"], rows["RS"]["first_resamples_share"]) == (
        2,
        1.0,
        0.0,
    )


@pytest.mark.parametrize("seed", range(16))
def test_somebody_may_be_first_and_gaps_put_behind_only_who_delivered_less(seed: int) -> None:
    """Also where all have failures; what is said of the first place agrees on every row."""
    rng = np.random.default_rng(seed)
    least = int(rng.integers(0, 2))
    rows = board({
        name: cells(float(rng.uniform(0.05, 0.4)),
                    fails=rng.choice(N, max(least, rng.choice([0, 1, 1, 3, 12])), replace=False).tolist())
        for name in "ABCDE"
    })  # fmt: skip
    most = max(int(str(row["n_included"])) for row in rows)
    best = min(float(str(row["score"])) for row in rows)

    assert any(row["may_be_first"] for row in rows)
    for row in rows:
        is_best = row["score"] == best
        assert row["may_be_first"] or not is_best or int(str(row["n_included"])) < most
        if is_best and not row["may_be_first"]:
            assert (row["rank"], row["first_resamples_share"]) == (1, 0.0)
            assert int(str(row["rank_low"])) > 1
    known = [float(str(row["first_resamples_share"])) for row in rows if row["first_resamples_share"] is not None]
    assert sum(known) == pytest.approx(1.0 if len(known) == len(rows) else 0.0)


@pytest.mark.parametrize("seed", range(16))
def test_no_ranked_one_is_covered_less_than_one_who_is_unranked_for_a_gap(seed: int) -> None:
    """Whoever fails or leaves out what, in whichever order; and who comes first does not decide."""
    rng = np.random.default_rng(seed)
    estimators = {}
    for name in "ABCDE":
        fails = rng.choice(N, rng.choice([0, 0, 3, N]), replace=False).tolist()
        left = {metric: rng.choice(N, rng.choice([1, 5, N]), replace=False).tolist()
                for metric in METRICS[:3] if rng.random() < 0.2}  # fmt: skip
        estimators[name] = cells(float(rng.uniform(0.05, 0.4)), fails=fails, empty=left)
    rows = board(estimators)
    unranked = [int(str(row["n_included"])) for row in rows if row["unranked_because"] == "partial"]

    assert all(int(str(row["n_included"])) >= max(unranked, default=0) for row in rows if row["rank"] is not None)
    assert ranks(board(dict(reversed(estimators.items())))) == ranks(rows)


@pytest.mark.parametrize("seed", range(10))
def test_to_leave_records_out_gains_no_place(seed: int) -> None:
    """Without a declared failure there is never a better rank than with all."""
    rng = np.random.default_rng(seed)
    others = {name: cells(float(rng.uniform(0.1, 0.3)), fails=rng.choice(N, 2)) for name in "ABC"}
    base, chosen = float(rng.uniform(0.1, 0.3)), rng.choice(N, 8, replace=False).tolist()
    whole = ranks(board({**others, "Z": cells(base)}))["Z"]
    after = ranks(board({**others, "Z": cells(base, empty={"mae": chosen, "rmse": chosen})}))["Z"]

    assert after is None or int(str(after)) >= int(str(whole))
