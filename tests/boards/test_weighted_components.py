"""Components of boards of weighted ranks: several levels of one metric, ties, and noise that is no difference."""

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

LEVELS = ("coverage@0.5", "coverage@0.95")


def board(metrics: str, rule: str, values: dict[str, list[float]], columns: tuple[str, ...]) -> Table:
    """Rank estimators by their values on four records of one stratum, [n_columns] each record the same."""
    declared = parse_manifest(
        "schema_version: 1\nslug: s\ntitle: s\nevidence: series_metrics\nmode: ground_truth\n"
        f"metrics: {{catalog: lrdbench, use: {metrics}}}\ntasks: {{open: true}}\n"
        f"leaderboards: [{{name: b, method: weighted_rank, {rule}, uncertainty: {{n_resamples: 100}}}}]\n".encode()
    )
    names, n = tuple(values), 4
    cells = np.array([values[name] for name in names for _ in range(n)])
    scores = ScoreTable(
        entrant=Coded(names, np.repeat(np.arange(len(names)), n)),
        task=Coded(("s",), np.zeros(len(names) * n, dtype=np.int64)),
        columns=columns,
        values=cells,
        leaked=np.zeros(len(cells), dtype=np.bool_),
        file=np.zeros(len(cells), dtype=np.int64),
        row=np.arange(len(cells)),
        item=Coded(tuple(f"r{at}" for at in range(n)), np.tile(np.arange(n), len(names))),
    )
    return compute_board(declared, declared.leaderboards[0], scores).leaderboard


def ranks(table: Table) -> dict[str, int]:
    """Return each estimator's rank."""
    return {row["entrant"]: row["rank"] for row in table.records()}


def test_a_tie_stays_a_tie_where_weights_are_divided_by_their_sum() -> None:
    """0.6 × 1 + 0.15 × 6 = 0.6 × 2 + 0.15 × 2: without the third component A and B tie, and A has the smaller error.

    As fractions of 0.75 the weights are rounded, by which B led.
    """
    values = {
        name: [0.1 * at, runtime, 0.9]
        for at, (name, runtime) in enumerate(zip("ABCDEF", (6, 2, 1, 3, 4, 5), strict=True))
    }
    weights = "{mae: 0.6, runtime: 0.15, coverage_error@0.95: 0.25}"
    columns = ("mae", "runtime", "coverage@0.95")
    shown = board("[mae, runtime, coverage@0.95, coverage_error@0.95]", f"weights: {weights}", values, columns)

    assert ranks(shown)["A"] == 1
    assert "without coverage_error@0.95" not in str(shown.meta["stability"]["without"])
    assert [note for note in shown.notes if note.startswith("Equal scores, whose order is by")] == [
        "Equal scores, whose order is by Mean absolute error: A, B."
    ]


def test_a_component_of_several_levels_is_their_mean() -> None:
    """By hand: coverage errors 0.5 and 0.05 of A have the mean 0.275, those of B 0.25 and 0.05 the mean 0.15."""
    use = "[coverage@0.5, coverage@0.95, coverage_error@0.5, coverage_error@0.95]"
    shown = board(use, "weights: {coverage_error: 1.0}", {"A": [1.0, 1.0], "B": [0.75, 1.0]}, LEVELS)
    rows = {row["entrant"]: row for row in shown.records()}

    assert ranks(shown) == {"B": 1, "A": 2}
    assert rows["A"]["metric__coverage_error@0.5@0.95"] == pytest.approx(0.275)
    assert rows["B"]["metric__coverage_error@0.5@0.95"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("rule", "expected"), [("none", {"A": 1, "B": 1}), ("mae", {"A": 1, "B": 2}), ("runtime", {"B": 1, "A": 2})]
)
def test_equal_scores_share_a_rank_unless_a_component_breaks_them(rule: str, expected: dict[str, int]) -> None:
    """A is better by mae and B by runtime, with half of the weight each."""
    actual = board(
        "[mae, runtime]", f"weights: {{mae: 0.5, runtime: 0.5}}, tie_break: '{rule}'",
        {"A": [0.1, 2.0], "B": [0.2, 1.0]}, ("mae", "runtime"),
    )  # fmt: skip

    assert ranks(actual) == expected


@pytest.mark.parametrize(("noise", "expected"), [(3e-14, {1}), (1e-9, {1, 2})])
def test_rounding_noise_does_not_rank(noise: float, expected: set[int]) -> None:
    """Sums of the same numbers in another order differ in their last digits; a real difference is larger."""
    actual = board("[mae]", "weights: {mae: 1.0}, tie_break: none", {"A": [0.1], "B": [0.1 + noise]}, ("mae",))

    assert set(ranks(actual).values()) == expected


@pytest.mark.parametrize("least", [5e-324, 1e-310, 1e-300, 1.0])
def test_values_of_any_size_have_ranks(least: float) -> None:
    """Of 5e-324 twelve digits are its 336th decimal, and ten to the power of that is no double."""
    values = {name: [at * least, 1.0] for at, name in enumerate("ABC")}
    weights = "{mae: 0.5, runtime: 0.5}"
    with np.errstate(invalid="raise"):
        shown = board("[mae, runtime]", f"weights: {weights}", values, ("mae", "runtime"))

    assert sorted(ranks(shown).values()) == [1, 2, 3]
    assert all(np.isfinite(row["score"]) for row in shown.records() if "score" in row)
