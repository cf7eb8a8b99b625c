"""The verdict on two entrants, and the same of every pair at once."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from app.boards.calibrated import DrawnSpread, Precision
from app.boards.example import EPISODES, benchmark, measured
from app.boards.methods.estimate import EstimateBoard, assemble_board
from app.boards.registry import compute_board
from app.boards.standing import BoardStanding, Contrasts, Gaps, Verdict, power_meta, stand
from app.boards.tables import BoardTables
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.render.against import evidence_needed, find_pair, measured_by, verdict
from app.render.table_page import how_it_is_known
from app.stats.arrays import FloatArray
from app.stats.resample import NamedResamples, unit_keys
from app.values.scores import Coded, ScoreTable
from app.values.table import Column, ColumnarRows, Table
from tests.cases.boards import TASKS, UNITS, declare, given, table_of


def contrasts(widest: float = 1.0) -> Contrasts:
    """Return those of five entrants, two of them alike and one without replicates, of scores in a range this wide."""
    rng = np.random.default_rng(4)
    points = np.array([0.9, 0.7, 0.7, 0.4, 0.1])
    replicates = points + 0.2 * rng.normal(size=(400, 5))
    replicates[:, 2] = replicates[:, 1]
    replicates[:, 4] = points[4]
    precision = Precision(9.0, 10.0 / 9.0)
    spread = DrawnSpread(replicates, [precision, precision, precision, precision, None])
    return stand(points, spread, 0.95, widest=widest).contrasts(range(5))


def test_no_interval_of_a_difference_is_wider_than_the_range_of_the_scores() -> None:
    """Scores from 0 to 1 differ by no more than 1; scores beyond their range show that its width bounds nothing."""
    (_, _, free), (_, _, within) = (contrasts(widest).verdict(0, 3).contrast for widest in (float("inf"), 1.0))
    (_, _, beyond) = contrasts(widest=0.25).verdict(0, 3).contrast

    assert (free or 0.0) > 1.0
    assert within == 1.0
    assert beyond == pytest.approx(0.8)


def turned(verdict: Verdict) -> Verdict:
    """Return a verdict on scores that were negated, with the sign of the metric: the ends change places."""
    point, low, high = (None if end is None else 0.0 - float(end) for end in verdict.contrast)
    return replace(verdict, contrast=(point, high, low))


@pytest.mark.heavy
@pytest.mark.parametrize("is_turned", [False, True])
def test_the_cells_of_all_pairs_are_those_of_each(is_turned: bool) -> None:
    """Also where scores were negated, of a pair alike, of one without replicates and of an entrant with itself."""
    known = contrasts()
    verdicts = [known.verdict(a, b) for a in range(5) for b in range(5)]
    shown = [turned(verdict) if is_turned else verdict for verdict in verdicts]
    actual = list(ColumnarRows(tuple(known.cells(is_turned=is_turned))))

    assert actual == [(*each.contrast, each.beats, each.p_value, each.separable) for each in shown]


def declared(method: str, smallest: str) -> bytes:
    """Return a benchmark of thirty tasks in two groups whose board says which difference matters."""
    tasks = [f"t{at:02}" for at in range(30)]
    halves = f", groups: {{x: [{', '.join(tasks[:15])}], y: [{', '.join(tasks[15:])}]}}"
    further = {"group_mean": halves, "skill_score": ", baseline: A"}.get(method, "")
    return f"""
schema_version: 1
slug: matters
title: Matters
evidence: evaluation_summary
metrics: {{score: {{direction: minimize, min: 0, max: 1}}}}
tasks: [{", ".join(f"{{id: {task}}}" for task in tasks)}]
leaderboards:
  - {{name: main, method: {method}, metric: score{further}, smallest_difference: {smallest}}}
""".encode()


@pytest.mark.parametrize("smallest", ["0", "-0.01", "many"])
def test_a_difference_that_matters_is_more_than_nothing(smallest: str) -> None:
    """It is refused with the line of the key, and what is allowed."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(declared("mean", smallest))

    (problem,) = refused.value.problems
    assert (problem.row, problem.column) == (9, "leaderboards.0.smallest_difference")
    assert problem.message in ("must be more than 0", "expected a number")


@pytest.mark.parametrize("method", ["mean", "group_mean", "borda", "mean_rank", "mean_win_rate", "skill_score"])
def test_pairs_are_better_worse_equivalent_or_undecided(method: str) -> None:
    """The verdict never contradicts the matrix, and turns with the pair; twins are equivalent, noise is undecided."""
    rng = np.random.default_rng(6)
    task = 0.4 + 0.05 * rng.normal(size=(30, 1))
    noise = np.array([0.002, 0.002, 0.002, 0.15]) * rng.normal(size=(30, 4))
    values = np.clip(task + np.array([0.0, 0.0005, 0.1, 0.01]) + noise, 0.01, 1.0)
    manifest = parse_manifest(declared(method, "0.02"))
    scores = ScoreTable(
        entrant=Coded(("A", "B", "C", "D"), np.tile(np.arange(4), 30)),
        task=Coded(tuple(manifest.task_ids() or ()), np.repeat(np.arange(30), 4)),
        columns=("score",),
        values=values.reshape(-1, 1),
        leaked=np.zeros(120, dtype=np.bool_),
        file=np.zeros(120, dtype=np.int64),
        row=np.arange(120),
    )
    tables = compute_board(manifest, manifest.leaderboards[0], scores)
    assert tables.pairwise is not None
    words = {(row["entrant_a"], row["entrant_b"]): row["verdict"] for row in tables.pairwise.records()}
    separable = {(row["entrant_a"], row["entrant_b"]): row["separable"] for row in tables.pairwise.records()}
    turned_words = {"better": "worse", "worse": "better", None: None}

    assert words["A", "C"] == "better"
    assert all(turned_words.get(word, word) == words[b, a] for (a, b), word in words.items())  # type: ignore[arg-type]
    assert all((word in ("better", "worse")) == bool(separable[pair]) for pair, word in words.items())
    assert tables.pairwise.meta["smallest_difference"] == 0.02
    power = tables.leaderboard.meta["power"]
    if "difference" not in power:  # of ranks of few, whose error depends on the difference
        assert method in ("borda", "mean_rank", "mean_win_rate")
        return
    assert power["difference"] > 0.0
    assert power["difference"] == pytest.approx(tables.pairwise.meta["power"]["difference"])
    assert (power["of_first"] or 0.0) < power["difference"]  # A and B are nearly alike on every task
    if method in ("mean", "group_mean"):
        assert (words["A", "B"], words["A", "D"]) == ("equivalent", "undecided")
        said = verdict(find_pair(tables.pairwise, "A", "B"), measured_by(tables.pairwise, manifest))
        assert "differ by less than 0.02, which does not matter" in said
        assert "times the data" in evidence_needed(find_pair(tables.pairwise, "A", "D"), None)[0]


@pytest.mark.parametrize(
    ("widest", "said"),
    [
        (np.inf, "A true difference of "),
        (1.0, "No difference in Score that is possible would be found, results varying as they do here, 80 times"),
    ],
)
def test_no_difference_that_cannot_be_is_said_to_be_found(widest: float, said: str) -> None:
    """Three replicates as far apart as their range: what it would take is more than two scores can differ."""
    drawn = DrawnSpread.of_units(np.random.default_rng(1).uniform(size=(200, 2)), 4)
    found = power_meta(stand(np.array([0.9, 0.1]), drawn, 0.95, widest=widest))
    columns = (Column("entrant", "Entrant", "text"), Column("score", "Score"))
    board = Table("leaderboard/b", "B", columns, (("A", 0.9), ("B", 0.1)), (), {"rank_by": "score", **found})
    ((_, (sentence, *_)),) = [line for line in how_it_is_known(board, (), (), None) if line[0] == "Power"]

    assert (found["power"]["difference"] is None) is (found["power"]["of_first"] is None) is (widest == 1.0)
    assert str(sentence).startswith(said)


@pytest.mark.parametrize(
    ("n_complete", "said"),
    [(2, "a typical pair of those that lack nothing, with"), (1, "a typical pair, with"), (4, "a typical pair, with")],
)
def test_a_typical_pair_is_one_that_lacks_nothing_where_there_is_one(n_complete: int, said: str) -> None:
    """No points for what is missing spread a difference: it is that of the first two, and not of those with gaps."""
    points, scale = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.01, 0.01, 0.3, 0.3])
    drawn = DrawnSpread.of_units(points + scale * np.random.default_rng(1).normal(size=(400, 4)), 20)
    lacks = np.arange(4) >= n_complete
    gaps = Gaps(np.where(lacks, points, np.nan), np.where(lacks, 8, 9)) if lacks.any() else None
    found = power_meta(stand(points, drawn, 0.95, gaps=gaps))
    columns = (Column("entrant", "Entrant", "text"), Column("score", "Score"))
    board = Table("leaderboard/b", "B", columns, (("A", 0.9), ("B", 0.8)), (), {"rank_by": "score", **found})
    ((_, (sentence, *_)),) = [line for line in how_it_is_known(board, (), (), None) if line[0] == "Power"]

    assert (found["power"]["difference"] == found["power"]["of_first"]) is (n_complete == 2)
    assert ("complete" in found["power"]) is (n_complete == 2)
    assert f" 80 times in 100 for {said} all pairs tested" in str(sentence)


def test_a_difference_that_two_digits_would_round_to_an_impossible_one_is_not_rounded_to_it() -> None:
    """A skill may not be 1: 0.999 is said to be more than 0.99, and 1.02 points are 1."""
    columns = (Column("entrant", "Entrant", "text"), Column("score", "Score"))
    for difference, said in ((0.99907, "more than 0.99"), (0.98, "0.98"), (1.02, "1")):
        power = {"power": 0.8, "difference": difference, "of_first": difference}
        board = Table("leaderboard/b", "B", columns, (("A", 0.9), ("B", 0.1)), (), {"rank_by": "score", "power": power})
        ((_, (sentence, *_)),) = [line for line in how_it_is_known(board, (), (), None) if line[0] == "Power"]
        assert str(sentence).startswith(f"A true difference of {said} in Score would be found here about 80 times")


@pytest.mark.parametrize(("n_entrants", "is_found"), [(2, True), (40, False)])
def test_over_few_units_ranks_find_nothing_that_the_same_sign_in_each_would_not_show(
    n_entrants: int, is_found: bool
) -> None:
    """Seven of seven tasks are a chance of one in 64: enough for two entrants, never for one pair of 780."""
    places = np.arange(float(n_entrants))
    apart = stand(places, DrawnSpread.of_units(np.tile(places, (400, 1)), 7, are_ranks=True), 0.95)
    assert apart.sets is not None
    assert apart.sets.separated.any() == is_found
    assert ("possible" in power_meta(apart).get("power", {})) == (not is_found)


def ranked_points(n_entrants: int, n_units: int, seed: int) -> FloatArray:
    """Return shares of others that each beats on each unit, [n_units, n_entrants]: true scores are evenly spaced."""
    scores = np.linspace(0.0, 3.0, n_entrants) + np.random.default_rng(seed).normal(size=(n_units, n_entrants))
    return np.asarray(scores.argsort(axis=1).argsort(axis=1) / (n_entrants - 1.0))


def ranked_standing(points: FloatArray) -> BoardStanding:
    """Return the standing of a board of such points."""
    drawn = NamedResamples(unit_keys(1, [(str(task),) for task in range(len(points))]), 400).means(points)
    spread = replace(DrawnSpread.of_units(drawn, len(points), are_ranks=True), by_unit=points)
    return stand(points.mean(axis=0), spread, 0.95)


@pytest.mark.parametrize(("n_entrants", "n_units"), [(2, 30), (9, 30), (20, 14)])
def test_of_ranks_of_few_or_over_few_units_no_difference_is_said_to_be_found(n_entrants: int, n_units: int) -> None:
    """Who wins 11 of 12 tasks varies less than who wins 8: what one error would find another would not."""
    power = power_meta(ranked_standing(ranked_points(n_entrants, n_units, 1)))["power"]

    assert not {"difference", "of_first", "freedom"} & power.keys()


def test_what_ranks_are_said_to_find_is_found_in_most_pairs_that_differ_by_so_much() -> None:
    """Simulated: of pairs whose mean points are truly about so far apart, 80 of 100 or more are told apart."""
    boards = [ranked_standing(ranked_points(20, 27, seed)) for seed in range(60)]
    powers = [power_meta(board)["power"] for board in boards]
    said = float(np.median([power["difference"] for power in powers]))
    truth = np.mean([board.points for board in boards], axis=0)
    n_found = np.sum([board.sets.separated for board in boards if board.sets is not None], axis=0)
    are_so_far = np.abs(truth[:, None] - truth[None, :] - said) < 0.1 * said

    assert all("freedom" not in power and power["of_first"] is None for power in powers)
    columns = (Column("entrant", "Entrant", "text"), Column("score", "Score"))
    board = Table("leaderboard/b", "B", columns, (("A", 0.9), ("B", 0.1)), (), {"rank_by": "score", "power": powers[0]})
    ((_, (sentence, *_)),) = [line for line in how_it_is_known(board, (), (), None) if line[0] == "Power"]
    assert "about 80 times in 100 for 9 in 10 pairs, with all pairs tested" in str(sentence)
    assert are_so_far.sum() > 5
    assert 0.78 <= n_found[are_so_far].mean() / len(boards) <= 0.95


@pytest.mark.parametrize("n_units", [3, 5, 6, 8])
def test_an_interval_of_ranks_excludes_zero_where_their_p_is_small(n_units: int) -> None:
    """Of five units the same sign in each is a chance of one in 16: beside that p no interval excludes zero."""
    points = np.random.default_rng(2).normal(0.0, 0.1, (n_units, 4)).round(2) + np.array([0.0, 0.05, 1.0, 2.0])
    drawn = NamedResamples(unit_keys(1, [(str(task),) for task in range(n_units)]), 400).means(points)
    standing = stand(points.mean(axis=0), DrawnSpread.of_units(drawn, n_units, are_ranks=True), 0.95)
    found = standing.contrasts(range(4))
    is_beyond = np.abs(found.differences) > found.margins

    assert np.array_equal(is_beyond, (found.p_values < 0.05) & ~np.isnan(found.margins))
    assert is_beyond.any() == (n_units >= 6)


def test_what_ratios_of_errors_find_is_found_with_the_error_that_it_then_has() -> None:
    """Simulated, two as far apart as is said, as a relative skill, are told apart in 80 of 100 runs."""
    rng = np.random.default_rng(7)
    logs = 0.35 * rng.normal(size=(300, 12, 2)) + 0.25 * rng.normal(size=(300, 12, 1))
    drawn = NamedResamples(unit_keys(1, [(str(task),) for task in range(12)]), 400)

    def of(run: FloatArray, factor: float) -> BoardStanding:
        shifted = run + np.log([1.0, factor])
        return stand(-shifted.mean(axis=0), DrawnSpread.of_units(drawn.means(-shifted), 12), 0.95, are_logs=True)

    found = [power_meta(of(run, 1.0))["power"]["of_first"] for run in logs[:100]]
    factor = 1.0 - float(np.median(found))
    n_found = sum(bool(sets.separated.any()) for run in logs if (sets := of(run, factor).sets) is not None)

    assert 0.72 <= n_found / len(logs) <= 0.92


ONE_TASK = {"mean": "", "group_mean": ", groups: {x: [t00]}", "borda": ", tasks: [t00]", "mean_rank": ", tasks: [t00]",
            "mean_win_rate": ", tasks: [t00]", "skill_score": ", baseline: Fair"}  # fmt: skip


def of_one_task(method: str) -> BoardTables:
    """Return a board of the four entrants on one task."""
    metrics, further = "{x: {direction: minimize}}", f", smallest_difference: 0.1{ONE_TASK[method]}"
    manifest = declare("evaluation_summary", metrics, f"method: {method}, metric: x{further}", tasks="[{id: t00}]")
    scores = table_of(given(), "minimize", "x", task=lambda unit: Coded(UNITS, unit))
    return compute_board(manifest, manifest.leaderboards[0], scores.take(np.flatnonzero(scores.task.codes == 0)))


def of_one_seed() -> BoardTables:
    """Return a board of two entrants with episodes of a single seed."""
    board = EstimateBoard(name="main", method="estimate", metrics=["success"], smallest_difference=0.1)
    return assemble_board(benchmark(board), board, [measured("A", 0.4), measured("B", 0.9)], EPISODES)


@pytest.mark.parametrize("build", [*(partial(of_one_task, method) for method in ONE_TASK), of_one_seed])
def test_a_difference_that_matters_is_compared_with_none_over_one_unit(build: Callable[[], BoardTables]) -> None:
    """Pairs are listed with their difference alone: nothing is tested, so nobody is called better or alike."""
    tables = build()
    pairs = tables.pairwise
    assert pairs is not None
    contrast = str(pairs.meta["contrast"])
    unknown = (f"{contrast}_lower", f"{contrast}_upper", "p_value", "separable", "verdict", "within")

    board = tables.leaderboard
    why = (
        "1 task is too few to tell a difference from chance"
        if "dependence" in board.meta
        else ("how far the score of an entrant may be off by chance is not known")
    )

    assert board.meta["statement"] == [f"{board.rows[0][1]} has the best score.", f"No differences are tested: {why}."]
    assert all(row[contrast] is not None for row in pairs.records())
    assert {row[name] for row in pairs.records() for name in unknown} == {None}


def test_who_is_worse_by_less_than_matters_is_said_to_be_so_everywhere() -> None:
    """A is better than B by 0.03 and surely by less than 0.1: "nobody is within 0.1" is false."""
    noise = np.random.default_rng(7).normal(size=(3, 24))
    errors = np.array([[0.30], [0.33], [0.60]]) + np.array([[0.001], [0.001], [0.05]]) * noise
    manifest = declare("evaluation_summary", "{x: {direction: minimize}}",
                       "method: mean, metric: x, smallest_difference: 0.1", tasks=TASKS)  # fmt: skip
    cells = np.arange(errors.size)
    scores = ScoreTable(
        entrant=Coded(("A", "B", "C"), cells // 24),
        task=Coded(UNITS, cells % 24),
        columns=("x",),
        values=errors.reshape(-1, 1),
        leaked=np.zeros(72, dtype=np.bool_),
        file=cells,
        row=cells,
    )
    tables = compute_board(manifest, manifest.leaderboards[0], scores)
    pairs = tables.pairwise
    assert pairs is not None
    pair = find_pair(pairs, "A", "B")

    assert (pair.forth["separable"], pair.forth["verdict"], pair.forth["within"]) == (True, "better", True)
    assert find_pair(pairs, "A", "C").forth["within"] is False
    assert tables.leaderboard.meta["equivalence"]["worse_by_less"] == ["B"]
    said = "B is shown to be worse than the first, but by less than 0.1, too little to matter here."
    assert tables.leaderboard.meta["statement"][-1] == said
    sentence = verdict(pair, measured_by(pairs, manifest))
    assert sentence.endswith("That is shown to be less than 0.1, which does not matter here.")
