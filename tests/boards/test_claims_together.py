"""Claims are decided by the calibrated interval, together with those of their registration, whoever paired what."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.boards.claims import COLUMNS, LEVEL, AskedClaim, ClaimedContrast, claims_table, contrasts_of, decide_claims
from app.boards.coverage import Coverage
from app.boards.example import benchmark, rows
from app.boards.methods.mean import Mean
from app.manifest.model import Leaderboard, Manifest
from app.prereg.fields import Hypothesis, Prereg
from app.stats.claimed import Direction, Side, holm_error_rates, judge, p_value
from app.stats.spreads import SHARE, Range
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell

BOARD = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})

NAMES = [column.name for column in COLUMNS]


def manifest() -> Manifest:
    """Return a small benchmark."""
    return benchmark(BOARD)


def row(claim: str, p: float, *, source: str = "abc", alone: str = "supported", **more: Cell) -> tuple[Cell, ...]:
    """Return a decided row."""
    given: dict[str, Cell] = dict.fromkeys(NAMES)
    given |= {"claim": claim, "source": source, "verdict": alone, "alone": alone, "p_value": p, "n_claims": 1}
    given |= {"first": "A", "second": "B", "metric": "error", "direction": "greater", "submission": 1}
    return tuple((given | more).values())


def verdicts(*rows: tuple[Cell, ...]) -> list[Cell]:
    """Return the verdicts of the table of these rows."""
    return [record["verdict"] for record in claims_table(manifest(), rows).records()]


def test_claims_of_one_registration_are_held_together() -> None:
    """Holm's levels of 2.5 %, whichever order; what is declared and not decided counts too."""
    rows = [row("a", 0.02), row("b", 0.001), row("c", 0.024)]
    assert verdicts(*rows) == ["inconclusive", "supported", "inconclusive"]
    assert verdicts(*rows[::-1]) == ["inconclusive", "supported", "inconclusive"]
    assert verdicts(row("a", 0.02), row("b", 0.02, source="other")) == ["supported", "supported"]
    assert verdicts(row("a", 0.02, n_claims=2)) == ["inconclusive"]


def test_one_claim_is_held_to_as_many_verdicts_as_are_given_on_it() -> None:
    """For 150 entrants it has 150 tries; the level and the note count these, not the one claim."""
    asked = [row("a", 0.001, entrant=f"E{at}") for at in range(150)]
    found = list(claims_table(manifest(), asked).records())
    assert {(each["n_claims"], each["verdict"]) for each in found} == {(1, "inconclusive")}
    assert [each["held_to"] for each in found] == pytest.approx([0.025 / 150] * 150)
    assert {each["note"] for each in found} == {"supported alone, not among 150 verdicts held together"}


def test_to_hold_twice_changes_nothing() -> None:
    """A table of rows that were held already has the same bytes."""
    once = claims_table(manifest(), [row("a", 0.02, note="all equal"), row("b", 0.001)])
    assert claims_table(manifest(), once.rows).rows == once.rows


def test_claims_of_the_benchmark_are_held_within_a_submission() -> None:
    """Another's submission makes nobody's verdict harder."""
    others = [row("a", 0.02, source="manifest", submission=number) for number in range(5)]
    assert verdicts(*others) == ["supported"] * 5


def test_a_row_says_how_many_registrations_have_its_contrast() -> None:
    """Four of its owner's of all signs, two of which say the opposite; whichever side is first."""
    contrast = ClaimedContrast("a", "abc", "A", "B", "error", 0.0, "greater")
    own = [
        contrast,
        replace(contrast, source="d", direction="less"),
        replace(contrast, source="e", first="B", second="A"),
        replace(contrast, source="f", first="B", second="A", direction="less"),
        replace(contrast, source="g", metric="other"),
    ]
    registered = [(1, each) for each in own]
    registered += [(2, replace(contrast, source=f"of another {at}", direction="less")) for at in range(6)]
    (record,) = claims_table(manifest(), [row("a", 0.01)], registered).records()
    assert record["registrations"] == "one of 4 registrations of its owner with this contrast; 2 said the opposite"


@pytest.mark.parametrize(
    ("direction", "threshold", "n_against"),
    [("less", 0.1, 0), ("less", 0.0, 1), ("less", -0.1, 1), ("greater", 0.1, 0)],
)
def test_what_can_hold_too_is_not_the_opposite(direction: Direction, threshold: float, n_against: int) -> None:
    """A difference above 0 may be below 0.1, too."""
    contrast = ClaimedContrast("a", "abc", "A", "B", "error", 0.0, "greater")
    other = replace(contrast, source="d", direction=direction, threshold=threshold)
    (record,) = claims_table(manifest(), [row("a", 0.01)], [(1, contrast), (1, other)]).records()
    assert (
        record["registrations"]
        == f"one of 2 registrations of its owner with this contrast; {n_against} said the opposite"
    )


def test_holm_is_no_stricter_than_bonferroni_and_no_laxer_than_one() -> None:
    """Every level is between."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = rng.uniform(size=5).tolist()
        error_rates = holm_error_rates(p, 5, 0.05)
        assert all(0.01 - 1e-12 <= rate <= 0.05 + 1e-12 for rate in error_rates)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_the_p_value_says_what_the_verdict_says(threshold: float) -> None:
    """Supported at 95 % if the one-sided p-value is at most 2.5 %; the mirrored claim is the mirror image."""
    rng = np.random.default_rng(3)
    for n_seeds in (5, 20):
        side = Side((rng.random(n_seeds * 20) < 0.75).astype(float), np.repeat(np.arange(n_seeds), 20), SHARE, (0, 1))
        judged = judge([side], threshold, "greater", 0.95)
        assert (judged.verdict == "supported") == (present(p_value([side], threshold, "greater")) <= 0.025)
        assert judge([side.mirrored()], -threshold, "less", 0.95).verdict == judged.verdict


def present(p: float | None) -> float:
    """Return a number that is there."""
    assert p is not None
    return p


def test_a_verdict_of_few_seeds_must_stand_with_one_that_fails() -> None:
    """Five perfect seeds do not exclude a sixth that fails altogether, and the interval shown says so; without bounds
    nothing is imagined.
    """
    values, units = np.ones(100) - 0.001 * np.tile([1.0, 0.0], 50), np.repeat(np.arange(5), 20)
    few = judge([Side(values, units, SHARE, (0.0, 1.0))], 0.55, "greater", 0.95)
    assert (few.verdict, few.reason) == ("inconclusive", "few_seeds")
    assert present(few.interval.low) < 0.55 < present(few.interval.high)
    assert judge([Side(values, units, Range())], 0.55, "greater", 0.95).verdict == "supported"


@pytest.mark.parametrize(
    ("n_seeds", "alone", "of_two", "of_five"), [(34, 0, 0, 0), (35, 1, 0, 0), (42, 1, 1, 0), (51, 1, 1, 1)]
)
def test_a_claim_among_others_needs_more_seeds_to_overlook_one_that_fails(
    n_seeds: int, alone: int, of_two: int, of_five: int
) -> None:
    """Nineteen of twenty in each seed is above nine tenths, and with one more seed that fails it is not."""
    values = np.tile(np.repeat([0.0, 1.0], [1, 19]), n_seeds)
    side = Side(values, np.repeat(np.arange(n_seeds), 20), SHARE, (0.0, 1.0))
    p = p_value([side], 0.9, "greater")

    assert p is not None
    assert [p <= 0.025 / m for m in (1, 2, 5)] == [alone, of_two, of_five]


def test_claims_between_entrants_of_the_same_tasks_are_paired() -> None:
    """The example's rows are of tasks: the differences of pairs decide."""
    contrast = ClaimedContrast("faster", "manifest", "Fair", "Poor", "error", 0.0, "less")
    (decided,) = decide_claims(manifest(), [contrast], rows(), AskedClaim(1))
    record = dict(zip(NAMES, decided, strict=True))
    assert (record["n_pairs"], record["alone"], record["gap_rule"]) == (3, "supported", "supported")


@pytest.mark.parametrize(
    ("sides", "asked"),
    [
        (("Fair", "Poor"), [("Fair", ()), ("Poor", ())]),
        (("Fair",), [("Fair", ())]),
        (("near", "far"), [("Fair", ("near", "far")), ("Poor", ("near", "far"))]),
        (("near",), [("Fair", ("near",)), ("Poor", ("near",))]),
    ],
)
def test_a_claim_asks_what_each_of_its_entrants_delivered(
    sides: tuple[str, ...], asked: list[tuple[str, tuple[str, ...]]]
) -> None:
    """Of a claim about conditions in these alone, of one about entrants in all; who lacks anything decides nothing."""
    twice = rows({name: [0.1, 0.3] for name in ("Fair", "Poor")})
    scores = replace(twice, condition=Coded(("near", "far"), twice.task.codes), task=Coded(("t",), 0 * twice.row))
    scores = replace(scores, item=None, values=scores.values + 0.1 * scores.entrant.codes[:, None])
    contrast = ClaimedContrast("c", "manifest", sides[0], sides[1] if sides[1:] else None, "error", 0.0, "less")
    found: list[tuple[str, tuple[str, ...]]] = []

    def delivered(_scores: ScoreTable, entrant: str, _metric: str, conditions: Collection[str]) -> Coverage:
        found.append((entrant, tuple(conditions)))
        return Coverage(4, 3, n_absent=1)

    records = [dict(zip(NAMES, each, strict=True))
               for each in decide_claims(manifest(), [contrast], scores, AskedClaim(1), delivered)]  # fmt: skip

    assert found == asked
    assert {(each["verdict"], str(each["note"]).partition(";")[0]) for each in records} == {
        ("inconclusive", "; ".join(["partial: 3 of 4 included"]))
    }


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [((0.1, 0.2, 0.3), (0.5, 0.6), "1 unmatched"), ((0.1, 0.2), (0.5, 0.6, 0.7), "1 unmatched"),
     ((0.1, 0.2, np.nan), (0.5, np.nan, 0.7), "2 unmatched"), ((0.1, 0.2), (0.5, 0.6), None)],
)  # fmt: skip
def test_what_has_no_partner_on_either_side_leaves_a_claim_undecided(
    first: Sequence[float], second: Sequence[float], note: str | None
) -> None:
    """It might have contradicted the claim."""
    contrast = ClaimedContrast("faster", "manifest", "A", "B", "error", 1.0, "less")
    (decided,) = decide_claims(manifest(), [contrast], rows({"A": first, "B": second}), AskedClaim(1))
    record = dict(zip(NAMES, decided, strict=True))

    assert next((part for part in str(record["note"]).split("; ") if "unmatched" in part), None) == note
    assert record["verdict"] == "inconclusive" or note is None


def test_a_verdict_that_holds_alone_and_not_among_the_others_keeps_what_was_said_of_it() -> None:
    """The level itself is enough; who has no p-value is held to nothing."""
    early = row("c", 0.5, alone="inconclusive", p_value=None)
    records = list(
        claims_table(manifest(), [row("a", 0.02, note="all equal"), row("b", (1.0 - LEVEL) / 2.0 / 3), early]).records()
    )

    assert [(each["verdict"], each["note"]) for each in records[:2]] == [
        ("inconclusive", "supported alone, not among 3 verdicts held together; all equal"),
        ("supported", None),
    ]
    assert [each["held_to"] is None for each in records] == [False, False, True]
    assert verdicts(row("a", 0.5, n_claims=None)) == ["supported"]


def test_names_of_one_owner_against_the_same_rival_are_counted_once_a_registration() -> None:
    """Also a name that nobody has used yet. Not where both sides are the owner's, which is said, or neither, nor of a
    claim of the benchmark itself; what is hidden is counted alone.
    """
    own = ClaimedContrast("a", "abc", "A", "B", "error", 0.0, "greater")
    others = [("d", "A2"), ("d", "A4"), ("e", "unused")]
    registered = [(1, own), *((1, replace(own, source=source, first=name)) for source, name in others)]
    unknown = [(None, replace(own, source=source)) for source in "xy"]
    rows = [row("a", 0.01), row("b", 0.01, second="A2"), row("c", 0.01, first="B", second=None),
            row("d", 0.01, source="manifest")]  # fmt: skip
    owners = {"A": 1, "A2": 1, "A4": 1, "B": 2}
    table = claims_table(manifest(), rows, [*registered, *unknown], owners, {1: 2, None: 9})

    assert [record["registrations"] for record in table.records()] == [
        "its owner registered 2 such contrasts against B under other names; its owner has 2 registrations under "
        "embargo",
        "both sides are its owner's; its owner has 2 registrations under embargo",
        "its owner has 2 registrations under embargo",
        None,
    ]


@pytest.mark.parametrize(("most", "expected"), [(1.0, ["error"]), (2.0, [])])
def test_a_hypothesis_without_a_metric_is_about_the_rate_that_ranks(most: float, expected: list[str]) -> None:
    """Where nothing is a rate, there is nothing that it could be about."""
    whole = manifest()
    rate = whole.metrics["error"].model_copy(update={"min": 0.0, "max": most})
    ranked = Mean(name="main", method="mean", metric="error")
    declared = whole.model_copy(update={"metrics": {"error": rate}, "leaderboards": (ranked,)})
    prereg = Prereg("evaluation", {}, hypotheses=(Hypothesis(("A", "B"), None, 0.1, "greater"),))

    assert [each.metric for each in contrasts_of(declared, prereg, "0" * 64)] == expected


def test_the_opposite_within_a_registration_is_counted() -> None:
    """Whichever of its claims comes last."""
    more = ClaimedContrast("a", "abc", "A", "B", "error", 0.0, "greater")
    less = replace(more, claim="b", direction="less")
    for claims in ([more, less], [less, more]):
        table = claims_table(manifest(), [row("a", 0.01)], [(1, each) for each in claims], {"A": 1, "B": 2})
        assert [record["registrations"] for record in table.records()] == [
            "in the one registration of its owner with this contrast; 1 said the opposite"
        ]
