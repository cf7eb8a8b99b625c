"""Aggregates within and over strata, weighted ranks, and their resampling."""

import numpy as np
import pytest
from scipy.stats import rankdata

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import WeightedRank, series_groups, stratum_aggregates
from app.kinds.parse import parse_manifest
from app.kinds.series.contract import series_intervals
from app.kinds.series.manifest_part import SeriesPart, SeriesUncertainty
from app.manifest.model import Manifest
from app.stats.strata import (
    Group,
    aggregate_group,
    average_ranks,
    balance,
    decided_by_name,
    ordinal_ranks,
    pair_groups,
    resample_means,
)
from app.values.scores import Coded, ScoreTable

NAN = float("nan")


def group(values: list[float], *, stratum: str = "s", estimator: str = "A", **more: object) -> Group:
    """Return a group of records 0, 1, 2, …"""
    return Group(estimator, "mae", stratum, np.array(values), np.arange(len(values)), **more)  # type: ignore[arg-type]


def test_what_is_aggregated_goes_by_its_rule() -> None:
    """√mean(9, 16) of rows that hold squares; (1 + 3) / (2 + 2), and not the mean of the ratios; over nothing null."""
    ratio = group([1.0, 3.0], rule="ratio", denominators=np.array([2.0, 2.0]))
    nothing = group([1.0], rule="ratio", denominators=np.array([0.0]))

    assert aggregate_group(group([9.0, 16.0], rule="root_mean_square")).value == pytest.approx(12.5**0.5)
    assert (aggregate_group(ratio).value, np.isnan(aggregate_group(nothing).value)) == (1.0, True)
    assert balance([aggregate_group(each) for each in (ratio, ratio)]).value == 1.0


def test_pairs_share_their_record() -> None:
    """Record 1 is null for B, so only records 0 and 2 pair up."""
    (pair,) = pair_groups([group([1.0, 2.0, 3.0]), group([0.0, NAN, 1.0], estimator="B")])

    assert (pair.first, pair.second, pair.differences.tolist()) == ("A", "B", [1.0, 2.0])


def test_resampling_is_the_plain_loop() -> None:
    """One call draws what a loop over resamples draws."""
    values = [0.5, 1.5, 4.0]
    loop = np.random.default_rng(3)
    slow = [float(np.mean(np.array(values)[loop.integers(0, 3, size=3)])) for _ in range(50)]

    assert resample_means(np.array([values]), 50, np.random.default_rng(3))[0].tolist() == pytest.approx(
        slow, abs=1e-15
    )


def test_a_shared_generator_draws_for_one_sample_after_the_other() -> None:
    """Two samples at once are the same as one, then the other."""
    samples = np.array([[0.5, 1.5, 4.0], [1.0, 2.0, 3.0]])
    shared = np.random.default_rng(3)
    apart = [resample_means(sample[None, :], 20, shared)[0] for sample in samples]

    assert (resample_means(samples, 20, np.random.default_rng(3)) == np.array(apart)).all()


def test_ties_share_the_average_rank() -> None:
    """As scipy's rankdata, for every component."""
    values = np.random.default_rng(0).integers(0, 4, size=(9, 3)).astype(float)

    assert (average_ranks(values, 9) == rankdata(values, axis=0)).all()


def test_a_missing_value_ranks_after_the_last() -> None:
    """N + 1 for it, and the others as if it were not there."""
    assert average_ranks(np.array([[2.0], [NAN], [1.0]]), 3).ravel().tolist() == [2.0, 4.0, 1.0]


def test_rule_1_breaks_ties_in_the_order_of_the_names() -> None:
    """Equal values get 1 and 2; a missing one is last."""
    assert ordinal_ranks(np.array([[1.0], [1.0], [NAN]])).ravel().tolist() == [1.0, 2.0, 3.0]


def test_what_the_name_decides_is_told() -> None:
    """Tied in the first component, whose weight is 0.7."""
    shares = decided_by_name(np.array([[1.0, 1.0], [1.0, 2.0]]), [0.7, 0.3])

    assert shares.tolist() == [0.7, 0.7]


def manifest(more: str = "") -> Manifest:
    """Return a benchmark of two metrics in one board."""
    return parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [mae, bias, runtime]}}
tasks: {{open: true}}
leaderboards:
  - {{name: main, method: weighted_rank, weights: {{mae: 0.5, bias: 0.25, runtime: 0.25}},
     uncertainty: {{n_resamples: 200}}{more}}}
""".encode()
    )


def rows(by_name: dict[str, list[list[float]]]) -> ScoreTable:
    """Return mae, bias and run time of two strata with two records each, by estimator."""
    names = list(by_name)
    values = np.array([row for name in names for row in by_name[name]])
    n_rows = len(values)
    return ScoreTable(
        entrant=Coded(tuple(names), np.repeat(np.arange(len(names)), 4)),
        task=Coded(("s1", "s2"), np.tile([0, 0, 1, 1], len(names))),
        columns=("mae", "bias", "runtime"),
        values=values,
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
        item=Coded(("r1", "r2", "r3", "r4"), np.tile([0, 1, 2, 3], len(names))),
        recorded={
            "role": Coded(("estimator",), np.zeros(n_rows, dtype=np.int64)),
            "metrics": Coded(("mae bias runtime",), np.zeros(n_rows, dtype=np.int64)),
            "stratum_json": Coded(('{"n": 1}', '{"n": 2}'), np.tile([0, 0, 1, 1], len(names))),
        },
    )


EXACT = [[0.1, 0.0, 1.0]] * 4
WRONG = [[0.5, -0.5, 1.0]] * 4


def board(by_name: dict[str, list[list[float]]], more: str = "") -> list[dict[str, object]]:
    """Return the board's rows."""
    declared = manifest(more)
    spec = declared.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    return [dict(row) for row in compute(declared, spec, rows(by_name)).leaderboard.records()]


def test_a_bias_is_ranked_by_its_size() -> None:
    """−0.5 is worse than 0, though it is the smaller number."""
    first = board({"A": WRONG, "B": EXACT})[0]

    assert (first["entrant"], first["rank__bias"]) == ("B", 1.0)


def test_rule_1_gives_them_different_ranks_and_says_why() -> None:
    """All of the weight was left to the names."""
    actual = board({"B": EXACT, "A": EXACT}, ", ranking_rule: 1")

    assert [(row["rank"], row["entrant"], row["decided_by_name"]) for row in actual] == [(1, "A", 1.0), (2, "B", 1.0)]


def test_the_terms_add_up_to_the_score() -> None:
    """The page that explains a score explains all of it."""
    declared = manifest()
    created = compute(declared, declared.leaderboards[0], rows({"A": EXACT, "B": WRONG}))  # type: ignore[arg-type]
    terms = [row for row in created.extra[0].records() if row["entrant"] == "B"]
    scores = {row["entrant"]: row["score"] for row in created.leaderboard.records()}

    assert sum(float(row["term"] or 0) for row in terms) == pytest.approx(scores["B"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("{mae: 0.5, bias: 0.2}", "they sum to 0.7"),
        ("{mae: 1.5, bias: -0.5}", "each is from 0 to 1"),
        ("{mae: 0.5, rmse: 0.5}", "rmse is not among the declared metrics"),
    ],
)
def test_weights_that_are_not_shares_are_refused(weights: str, message: str) -> None:
    """The manifest says which rule is broken."""
    text = f"""
schema_version: 1
slug: small
title: Small
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [mae, bias]}}
tasks: {{open: true}}
leaderboards: [{{name: main, method: weighted_rank, weights: {weights}}}]
"""
    with pytest.raises(Exception, match="breaks the rules") as refused:
        parse_manifest(text.encode())

    assert message in str([problem.message for problem in refused.value.problems])  # type: ignore[attr-defined]


def test_an_estimator_less_leaves_the_others_intervals_as_they_are() -> None:
    """The default stream; lrdbench's own does not have this."""
    drawn = SeriesUncertainty(n_resamples=100)
    spread = [[0.1 * k, 0.0, 1.0] for k in range(4)]
    both, alone = (rows(names) for names in ({"A": spread, "B": WRONG}, {"A": spread}))
    actual = [
        [i for i in series_intervals(g, stratum_aggregates(g), drawn) if i.estimator == "A"]
        for g in (series_groups(both), series_groups(alone))
    ]

    assert actual[0] == actual[1]


def test_one_record_has_no_interval_in_the_default_stream() -> None:
    """And a zero-width one in lrdbench's, whose exports say so."""
    one = [group([0.5])]
    default, theirs = (
        series_intervals(one, stratum_aggregates(one), SeriesUncertainty(n_resamples=100, stream=stream))[0]
        for stream in ("independent", "lrdbench")
    )

    assert (default.low, theirs.low, theirs.high) == (None, 0.5, 0.5)


def test_names_that_are_not_enrolled_are_not_ranked() -> None:
    """The manifest lists who takes part."""
    declared = manifest().model_copy(update={"part": SeriesPart(estimators=["A"])})
    created = compute(declared, declared.leaderboards[0], rows({"A": EXACT, "B": WRONG}))  # type: ignore[arg-type]

    assert [row["entrant"] for row in created.leaderboard.records()] == ["A"]
