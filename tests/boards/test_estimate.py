"""The method `estimate`: each entrant apart, labels without rank, composites, and claims between two sides."""

import json
from dataclasses import replace

import numpy as np
import pytest

from app.boards.claims import COLUMNS, AskedClaim, ClaimedContrast, decide_claims
from app.boards.measured import EntrantEvidence, Measurement
from app.boards.methods.estimate import EstimateBoard, assemble_board, standing_by
from app.boards.standing import caveats_of, letters_table
from app.boards.tables import BoardTables
from app.errors import ManifestRejected
from app.kinds.episodes.measure import measure_episodes
from app.kinds.parse import parse_manifest
from app.kinds.registry import measured_kind
from app.manifest.model import Explored, Manifest
from app.render.against import evidence_needed, find_pair
from app.stats.claimed import Side, detectable, fewest_detecting, judge
from app.stats.spreads import SHARE, Range
from app.store.measured import pack_measurement, unpack_measurement
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

MANIFEST = """
schema_version: 1
slug: arm
title: Arm
evidence: episodes
tasks: {{open: true}}
metrics: {{success: {{direction: maximize, min: 0, max: 1}}, force: {{direction: minimize}}}}
leaderboards:
  - {{name: main, method: estimate, metrics: [success, force], statistic: mean{more},
     uncertainty: {{n_resamples: 300, rng_seed: 1}}}}
"""


def declared(more: str = "") -> tuple[Manifest, EstimateBoard]:
    """Return a benchmark and its one board; `more` is added to the board."""
    manifest = parse_manifest(MANIFEST.format(more=more).encode())
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    return manifest, spec


def rows(
    success: dict[int, list[float]], *, task: str = "lift", condition: str = "near", force: float = 1.0
) -> ScoreTable:
    """Return the episodes of one entrant, success by seed."""
    seeds = [seed for seed, values in success.items() for _ in values]
    items = [str(number) for values in success.values() for number in range(len(values))]
    values = [[value, force] for by_seed in success.values() for value in by_seed]
    n_rows = len(seeds)
    one = np.zeros(n_rows, dtype=np.int64)
    words = tuple(dict.fromkeys(items))
    return ScoreTable(
        entrant=Coded(("A",), one),
        task=Coded((task,), one),
        columns=("success", "force"),
        values=np.array(values),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=one,
        row=np.arange(n_rows),
        condition=Coded((condition,), one),
        seed=np.array(seeds),
        item=Coded(words, np.array([words.index(item) for item in items])),
    )


def measure(scores: ScoreTable, entrant: str = "A", more: str = "") -> Measurement:
    """Measure one entrant."""
    manifest, spec = declared(more)
    return measure_episodes(manifest, spec, EntrantEvidence(entrant, scores))


def tables(*measurements: Measurement, more: str = "") -> BoardTables:
    """Return the board of measured entrants, and their pairs."""
    manifest, spec = declared(more)
    return assemble_board(manifest, spec, measurements, measured_kind(manifest))


def board(*measurements: Measurement, more: str = "") -> Table:
    """Return the board of measured entrants."""
    return tables(*measurements, more=more).leaderboard


GOOD = {0: [1.0, 1.0, 1.0, 0.0], 1: [1.0, 1.0, 0.0, 1.0], 2: [1.0, 1.0, 1.0, 1.0]}
NEAR = {0: [1.0, 0.0, 1.0, 0.0], 1: [1.0, 1.0, 0.0, 0.0], 2: [1.0, 0.0, 1.0, 1.0]}
POOR = {0: [0.0, 0.0, 1.0, 0.0], 1: [0.0, 0.0, 0.0, 0.0], 2: [0.0, 1.0, 0.0, 0.0]}


def test_less_of_a_gap_is_better_whatever_the_metric() -> None:
    """Every other number of a success rate is better where it is larger, and of a force where it is smaller."""
    more = ", optimality_gap: {threshold: 0.9}"
    table = board(measure(rows(GOOD), "good", more), measure(rows(POOR), "poor", more), more=more)
    of_each = {column.name: column.direction for column in table.columns}

    assert of_each["success"] == of_each["success_iqm"] == "maximize"
    assert of_each["success_optimality_gap"] == "minimize"
    assert of_each["force"] == of_each["force_iqm"] == "minimize"


def test_a_readers_choice_has_the_board_alone() -> None:
    """The same rows, without pairs and further tables, which a reader does not wait for."""
    manifest, spec = declared()
    measured = [measure(rows(values), name) for name, values in (("poor", POOR), ("good", GOOD))]
    chosen = spec.as_chosen(None, Explored({}))
    whole, own = (assemble_board(manifest, each, measured, measured_kind(manifest)) for each in (spec, chosen))

    assert own.leaderboard.rows == whole.leaderboard.rows
    assert (own.pairwise, own.extra) == (None, ())
    assert whole.pairwise is not None


def test_one_seed_has_a_point_and_no_interval_and_says_so() -> None:
    """The others' ranks have intervals all the same, and it takes the first place from nobody."""
    good = {seed: [1.0, 1.0, 1.0, float(seed % 2)] for seed in range(9)}
    poor = {seed: [0.0, 0.0, float(seed % 2), 0.0] for seed in range(9)}
    evidence = {"one": rows({0: [1.0] * 36}), "good": rows(good), "poor": rows(poor)}
    # Without a grid who has fewer seeds would stand behind; under one that asks for 36 episodes they are side by side.
    table = board(*(replace(measure(scores, name), held=None) for name, scores in evidence.items()))
    by_name = {row["entrant"]: row for row in table.records()}

    assert (by_name["one"]["rank"], by_name["one"]["success"], by_name["one"]["success_lower"]) == (1, 1.0, None)
    assert [by_name["one"][name] for name in ("rank_low", "first_resamples_share", "may_be_first", "group")] == [
        None
    ] * 4
    assert (by_name["good"]["rank_low"], by_name["good"]["rank_high"], by_name["good"]["first_resamples_share"]) == (
        1,
        2,
        1.0,
    )
    assert (by_name["good"]["may_be_first"], by_name["poor"]["may_be_first"]) == (True, False)
    assert "No rank interval, fewer than two clusters to resample: one." in table.notes
    assert (
        "How sure these scores are is not known: nobody is said to be below them, others may be above them."
        in table.notes
    )


def test_an_interval_without_width_is_flagged() -> None:
    """Every episode succeeds: the compatible interval is kept with its reason, and the one that is drawn has width."""
    equal = measure(rows({0: [1.0] * 4, 1: [1.0] * 4}), "equal")
    actual = equal.estimates["success"]
    table = board(equal, measure(rows(POOR), "poor"))

    assert (actual.point, actual.low, actual.high, actual.reason) == (1.0, 1.0, 1.0, "all_equal")
    assert (
        "equal: 2 seeds that are all equal have a score of 1. Others may do otherwise and not be among 2, so "
        "comparisons count with a score that is off by up to 0.776 to either side (one-sided, and far enough for all "
        "pairs tested together, unlike the interval of the score)."
    ) in table.notes
    # What is kept of a measurement says so, too.
    assert unpack_measurement(pack_measurement(equal)).measurement.rows["equal_seeds"] == (
        (2, pytest.approx(0.7764, abs=5e-5), pytest.approx(0.7764, abs=5e-5), 0.1),
    )
    assert actual.calibrated is not None
    assert (actual.calibrated.low or 0.0) < actual.calibrated.high
    assert (
        "Every resample gives the same value, so the compatible interval has no width: success of equal; force of "
        "equal, poor; success, IQM, of equal. Where there is a calibrated interval it still says how far the truth may "
        "be." in table.notes
    )


def test_pairs_say_whose_seeds_are_all_equal() -> None:
    """As the board does, from which they are a click away; and that there are few seeds. Letters and two compared do.

    Of other entrants nothing is said of seeds that are equal.
    """
    zero, poor = measure(rows({seed: [0.0] * 4 for seed in range(12)}), "zero"), measure(rows(POOR), "poor")
    good = measure(rows(GOOD), "good")

    found = tables(zero, poor)
    assert found.pairwise is not None
    lettered = letters_table(found.leaderboard, found.pairwise)
    for notes in (found.pairwise.notes, lettered.notes, caveats_of(found.pairwise)):
        assert [note for note in notes if note.startswith("zero")] == [
            "zero: 12 seeds that are all equal have a score of 0. Others may do otherwise and not be among 12, so "
            "comparisons count with a score that is off by up to 0.226 to either side (one-sided, and far enough for "
            "all pairs tested together, unlike the interval of the score)."
        ]
        assert any(
            note.startswith("The results of poor are worth fewer than eight independent seeds") for note in notes
        )
    assert not any("do otherwise" in note for note in caveats_of(tables(good, poor).pairwise))


@pytest.mark.parametrize("n", [3, 5, 16, 30])
def test_no_p_of_equal_seeds_is_below_the_chance_of_them(n: int) -> None:
    """That of none among n which would do otherwise: five zeros beside 0.274 had a t of 0.18, and the chance is 0.2."""
    zero = measure(rows({seed: [0.0] * 4 for seed in range(n)}), "zero")
    for share in (1, 2, 3):
        other = measure(rows({seed: [float(at < share) for at in range(4)] for seed in range(n)}), "other")
        standing = standing_by(*declared(), "success", [zero, other])
        known, below, least = standing.contrasts([0, 1]), standing.place(0, "zero").first_p, (1.0 - share / 4) ** n

        assert known.p_values[0, 1] == known.p_values[1, 0] >= least - 1e-12
        assert below is not None
        assert below >= least - 1e-12
        assert bool(known.separated[1, 0]) is (below <= 0.05)
        assert standing.place(1, "other").first_p == 1.0


def test_what_more_seeds_would_find_is_not_said_where_seeds_are_equal() -> None:
    """What equal seeds leave open falls with their number and not with its root. Of others it is said as ever."""
    good, poor, near = (
        measure(rows(values), name) for name, values in (("good", GOOD), ("poor", POOR), ("near", NEAR))
    )
    zero, both = measure(rows({seed: [0.0] * 4 for seed in range(3)}), "zero"), tables(good, near, poor)
    found = tables(good, near, poor, zero)

    assert both.pairwise is not None
    assert found.pairwise is not None
    assert evidence_needed(find_pair(found.pairwise, "good", "near"), None)
    assert not evidence_needed(find_pair(found.pairwise, "poor", "zero"), None)
    assert (found.leaderboard.meta["equal_seeds"], "difference" in found.leaderboard.meta["power"]) == (["zero"], True)
    assert "difference" not in tables(poor, zero).leaderboard.meta["power"]
    assert "equal_seeds" not in both.leaderboard.meta


def test_an_episode_without_a_score_counts_as_the_worst() -> None:
    """To leave the failures empty gives the same number as to tell them, and a rank behind those who told them."""
    reported = measure(rows(POOR), "told")
    left = measure(rows({seed: [value or np.nan for value in values] for seed, values in POOR.items()}), "left")
    table = board(reported, left)

    assert left.estimates["success"].point == reported.estimates["success"].point == pytest.approx(2 / 12)
    assert (left.coverage.n_included, left.coverage.n_failed) == (2, 10)
    assert [row["rank"] for row in table.records()] == [1, 2]


RATES = """
schema_version: 1
slug: arm
title: Arm
evidence: episodes
tasks: {open: true}
metrics:
  success: {direction: maximize, min: 0, max: 1}
  force: {direction: minimize, above: 130, title: Force above 130 N}
leaderboards:
  - {name: main, method: estimate, metrics: [success, force], statistic: iqm,
     uncertainty: {n_resamples: 300, rng_seed: 1}}
"""


def test_a_rare_violation_is_not_trimmed_away() -> None:
    """One force of twelve is above the limit: its mean stands beside the interquartile mean of the successes."""
    manifest = parse_manifest(RATES.encode())
    scores = rows(GOOD, force=0.0)
    scores.values[0, 1] = 1.0
    spec = manifest.leaderboards[0]
    measured = measure_episodes(manifest, spec, EntrantEvidence("A", scores))
    table = assemble_board(manifest, spec, [measured], measured_kind(manifest)).leaderboard
    titles = {column.name: column.title for column in table.columns}

    assert (measured.estimates["success"].point, measured.estimates["success:mean"].point) == (1.0, 10 / 12)
    assert (measured.estimates["force"].point, measured.estimates["force:iqm"].point) == (1 / 12, 0.0)
    assert (titles["success"], titles["success_mean"]) == ("success, IQM", "success, mean")
    assert (titles["force"], titles["force_iqm"]) == ("Force above 130 N, mean", "Force above 130 N, IQM")
    assert table.meta["statistics"] == {"success": "iqm", "force": "mean"}
    assert {row[2:4] for row in measured.rows["breakdown"]} == {("success", "iqm"), ("force", "mean")}


def test_yes_and_no_rank_by_their_mean_unless_a_manifest_says_otherwise() -> None:
    """Their interquartile mean is 1 from three quarters on, whoever is better."""
    manifest = parse_manifest(RATES.replace("statistic: iqm,\n     ", "").encode())
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)

    assert spec.statistic_of("success", manifest.metrics["success"]) == "mean"


def test_policies_of_one_interquartile_mean_are_ranked_by_their_means() -> None:
    """Two and one of eighty are wrong: both have an IQM of 1, which stands beside with its interval and its rank."""
    manifest = parse_manifest(RATES.replace("statistic: iqm,\n     ", "").encode())
    spec = manifest.leaderboards[0]
    wrong = {"A": [0.0, *[1.0] * 39], "B": [1.0] * 40}
    actual = [
        measure_episodes(manifest, spec, EntrantEvidence(name, rows({0: [0.0, *[1.0] * 39], 1: scores})))
        for name, scores in wrong.items()
    ]
    shown = list(assemble_board(manifest, spec, actual, measured_kind(manifest)).leaderboard.records())
    iqm = ("success_iqm", "success_iqm_lower", "success_iqm_upper", "success_iqm_rank")

    assert [(row["entrant"], row["rank"], row["success"]) for row in shown] == [("B", 1, 79 / 80), ("A", 2, 78 / 80)]
    assert {tuple(row[name] for name in iqm) for row in shown} == {(1.0, 1.0, 1.0, 1)}


@pytest.mark.parametrize(
    ("metric", "is_rate"),
    [
        ("{direction: minimize, above: 0}", True),
        ("{direction: minimize, min: 0, max: 1}", True),
        ("{direction: maximize, min: 0, max: 1}", False),
        ("{direction: minimize, min: 0}", False),
    ],
)
def test_a_rate_is_known_by_its_limit_or_its_range(metric: str, is_rate: bool) -> None:
    """What is above a limit, and a yes or no that should be no."""
    manifest = parse_manifest(
        RATES.replace("{direction: minimize, above: 130, title: Force above 130 N}", metric).encode()
    )
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)

    assert spec.statistic_of("force", manifest.metrics["force"]) == ("mean" if is_rate else "iqm")


def test_a_statistic_of_an_unknown_metric_is_refused() -> None:
    """A slip would leave the default unseen."""
    with pytest.raises(ManifestRejected):
        declared(", statistics: {sucess: iqm}")


def test_a_composite_weighs_the_axes_that_are_there() -> None:
    """CM weighs 1 and AS a half; the absent PF is a missing component."""
    more = ", composite: {title: HRS, weights: {CM: 1.0, AS: 0.5, PF: 0.9}}"
    one, half = {0: [1.0, 1.0], 1: [1.0, 1.0]}, {0: [0.0, 0.0], 1: [1.0, 1.0]}
    first, second = rows(one, task="CM"), rows(half, task="AS")
    both = ScoreTable(
        entrant=Coded(("A",), np.zeros(8, dtype=np.int64)),
        task=Coded(("CM", "AS"), np.repeat([0, 1], 4)),
        columns=first.columns,
        values=np.concatenate([first.values, second.values]),
        leaked=np.zeros(8, dtype=np.bool_),
        file=np.zeros(8, dtype=np.int64),
        row=np.arange(8),
        seed=np.array([0, 0, 1, 1] * 2),
        item=Coded(("0", "1"), np.array([0, 1] * 4)),
    )
    measured = measure(both, more=more)

    assert measured.estimates["success"].point == pytest.approx((1.0 * 1.0 + 0.5 * 0.5) / 1.5)
    assert [row[0] for row in measured.rows["components"] if row[-1]] == ["PF"]
    alone = measure(first).estimates["success"].calibrated
    assert alone is not None
    assert measured.rows["components"][0][4:6] == (alone.low, alone.high)


def test_a_pooled_bootstrap_cannot_be_declared_for_a_board() -> None:
    """The manifest has no word for it."""
    with pytest.raises(Exception, match="breaks the rules"):
        parse_manifest(MANIFEST.format(more="").replace("rng_seed: 1", "rng_seed: 1, method: iid").encode())


def test_a_measurement_survives_being_kept() -> None:
    """Packed and unpacked it is the same, and it is no code."""
    measured = measure(rows(GOOD))
    packed = pack_measurement(measured)
    back = unpack_measurement(packed).measurement

    assert (back.estimates, back.facts, json.dumps(dict(back.rows))) == (
        measured.estimates,
        measured.facts,
        json.dumps(measured.rows),
    )
    assert (back.replicates["success"] == measured.replicates["success"]).all()


def two_conditions(near: dict[int, list[float]], far: dict[int, list[float]]) -> ScoreTable:
    """Return one entrant in two conditions."""
    first, second = rows(near), rows(far)
    seeds = [s for table in (first, second) if table.seed is not None for s in table.seed.tolist()]
    items = [i for table in (first, second) if table.item is not None for i in table.item.to_list()]
    words = tuple(dict.fromkeys(str(item) for item in items))
    n_rows = len(seeds)
    zeros = np.zeros(n_rows, dtype=np.int64)
    return ScoreTable(
        entrant=Coded(("A",), zeros),
        task=Coded(("lift",), zeros),
        columns=first.columns,
        values=np.concatenate([first.values, second.values]),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=zeros,
        row=np.arange(n_rows),
        condition=Coded(("near", "far"), np.repeat([0, 1], [len(first), len(second)])),
        seed=np.array(seeds),
        item=Coded(words, np.array([words.index(str(item)) for item in items])),
    )


def decided(scores: ScoreTable, threshold: float) -> dict[str, object]:
    """Return the one row of a claim that near exceeds far."""
    contrast = ClaimedContrast("gap", "manifest", "near", "far", "success", threshold, "greater")
    (row,) = decide_claims(declared()[0], [contrast], scores, AskedClaim(7))
    return dict(zip([column.name for column in COLUMNS], row, strict=True))


def test_a_clear_gap_supports_its_claim() -> None:
    """Every pair differs by one, in twelve seeds. Five would leave room for a seed that fails altogether."""
    claim = decided(two_conditions({s: [1.0] * 4 for s in range(12)}, {s: [0.0] * 4 for s in range(12)}), 0.2)
    few = decided(two_conditions({s: [1.0] * 4 for s in range(5)}, {s: [0.0] * 4 for s in range(5)}), 0.2)

    assert (claim["difference"], claim["n_pairs"], claim["verdict"]) == (1.0, 48, "supported")
    assert (few["verdict"], few["gap_rule"]) == ("inconclusive", "supported")


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_detectable_is_what_the_claim_would_be_supported_by(shared: bool) -> None:
    """So many seeds moved so far beyond the threshold support it, and a null is where not even faultless ones do."""
    rng = np.random.default_rng(4)
    near, far = (rng.binomial(20, p, size=34) / 20 for p in (0.6, 0.4))
    ends = (min(-far.mean(), near.mean() - 1.0), max(1.0 - far.mean(), near.mean()))
    differences = Range(-1.0, 1.0)
    for n in (4, 8, 16, 34):
        units = np.arange(n)
        sides = [Side(near[:n] - far[:n], units, differences, ends, are_differences=True)]
        if not shared:
            sides = [Side(each[:n], units, SHARE, (0.0, 1.0)) for each in (near, far)]
        found, needed = detectable(sides, 0.2, "greater", 0.95), fewest_detecting(sides, 0.2, "greater", 0.95)
        mirrored = [each.mirrored() for each in sides]

        assert needed is not None
        assert (found is None) == (n < needed)
        assert detectable(mirrored, -0.2, "less", 0.95) == pytest.approx(found)
        if found is not None:
            # By the plain formula, without a seed that fails altogether, it is less.
            error = float(np.linalg.norm([each.spread.believed for each in sides]))
            assert found > (1.96 + 0.84) * error

    # Values without a range, of tasks: who is as far beyond as that is supported in 80 of 100 runs.
    drawn = rng.normal(size=(400, 21))
    of_tasks = [Side(values, np.arange(21), Range(), are_tasks=True) for values in drawn]
    typical = np.median([float(detectable([side], 0.0, "greater", 0.975) or np.nan) for side in of_tasks])
    moved = [replace(side, values=side.values + typical) for side in of_tasks]
    n_supported = sum(judge([side], 0.0, "greater", 0.975).verdict == "supported" for side in moved)
    assert 0.74 <= n_supported / len(moved) <= 0.88
    first, second = ({s: [1.0, 1.0, 0.0] for s in range(5)}, {s: [0.0, float(s > 2), 0.0] for s in range(5)})
    few = decided(two_conditions(first, second), 0.2)
    assert few["detectable"] is None
    assert "nothing is detectable with fewer than 8 seeds" in str(few["note"])


def test_unmatched_episodes_are_counted_and_left_out() -> None:
    """The near side has one episode more in each seed."""
    claim = decided(two_conditions({0: [1.0, 1.0], 1: [1.0, 0.0]}, {0: [0.0], 1: [0.0]}), 0.2)

    assert (claim["n_pairs"], claim["n_unmatched_first"], claim["n_unmatched_second"]) == (2, 2, 0)


def test_differences_that_are_all_equal_are_flagged() -> None:
    """CHAMBER's interval has no width, and what could be detected is unknown; so nothing is decided by it."""
    row = decided(two_conditions({0: [1.0, 1.0], 1: [1.0, 1.0]}, {0: [0.0, 0.0], 1: [0.0, 0.0]}), 0.2)

    assert (row["difference"], row["difference_lower"], row["difference_upper"]) == (1.0, 1.0, 1.0)
    assert (row["note"], row["detectable"]) == ("all equal; nothing is detectable with fewer than 8 seeds", None)
    assert (row["verdict"], row["gap_rule"]) == ("inconclusive", "supported")


def test_a_gap_of_a_quarter_is_hidden_by_the_interquartile_mean() -> None:
    """Which is why the mean decides: 24 of 100 pairs differ, and the middle half does not."""
    near = {seed: [1.0] * 6 + [0.0] * 19 for seed in range(4)}
    claim = decided(two_conditions(near, {seed: [0.0] * 25 for seed in range(4)}), 0.2)

    assert (claim["difference"], claim["iqm"], claim["verdict"]) == (pytest.approx(0.24), 0.0, "inconclusive")


def test_a_claim_about_what_nobody_delivered_is_inconclusive_and_names_it() -> None:
    """Neither side is there; the row has no entrant."""
    contrast = ClaimedContrast("gap", "manifest", "up", "down", "success", 0.2, "greater")
    (row,) = decide_claims(declared()[0], [contrast], rows(GOOD), AskedClaim(7))
    claim = dict(zip([column.name for column in COLUMNS], row, strict=True))

    assert (claim["verdict"], claim["note"]) == ("inconclusive", "not delivered: up, down")
    assert (claim["entrant"], claim["n_pairs"], claim["submission"]) == (None, 0, 7)


def test_a_claim_of_which_one_condition_is_there_names_the_other() -> None:
    """Near was delivered, down was not."""
    contrast = ClaimedContrast("gap", "manifest", "near", "down", "success", 0.2, "greater")
    (row,) = decide_claims(declared()[0], [contrast], rows(GOOD), AskedClaim(7))
    claim = dict(zip([column.name for column in COLUMNS], row, strict=True))

    assert (claim["entrant"], claim["verdict"], claim["note"]) == ("A", "inconclusive", "not delivered: down")


def test_an_entrant_without_a_value_stands_last_without_a_rank() -> None:
    """Missing is never zero and never best."""
    nothing = rows({0: [np.nan, np.nan], 1: [np.nan, np.nan]})
    table = board(measure(nothing, "empty"), measure(rows(POOR), "poor"))

    assert [(row["rank"], row["entrant"], row["success"]) for row in table.records()] == [
        (1, "poor", pytest.approx(2 / 12)),
        (None, "empty", None),
    ]


@pytest.mark.parametrize(("tasks", "glossary"), [("[{id: lift}]", None), ("[{id: lift}, {id: place}]", "mean")])
def test_a_mean_of_one_task_is_not_explained_as_one_over_tasks(tasks: str, glossary: str | None) -> None:
    """ "Every task counts the same" stood on a board of a single one."""
    manifest = parse_manifest(MANIFEST.format(more="").replace("{open: true}", tasks).encode())
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    found = assemble_board(manifest, spec, [Measurement("A", {})], measured_kind(manifest)).leaderboard

    assert found.columns[found.index("success")].glossary == glossary
