"""What admission says of episodes and the grid: what is beyond it, absent from it, and seeds of one's own choice."""

from dataclasses import replace

import pytest

from app.admission.case import Case
from app.boards.coverage import Coverage
from app.boards.measured import EntrantEvidence
from app.boards.methods.estimate import EstimateBoard
from app.kinds.contract import Evaluation
from app.kinds.episodes.coverage import MOST_CELLS, common_axis, grid_of, hold_against_grid
from app.kinds.episodes.rules import check_grid
from app.kinds.episodes.summary import summarise
from app.kinds.parse import parse_manifest
from app.manifest.model import NO_FACTS, Grid, GridFacts, ItemNames, Manifest, RequiredGrid
from app.values.facts import RunFacts
from tests.cases.admission import Row, case, grid, registered, table
from tests.cases.chamber import MANIFEST
from tests.cases.frozen import tables_as_text

SEEDS = "seeds: [0, 1, 2, 3, 4]"
WHOLE = f"{{{SEEDS}, conditions: [left, right], items: 4}}"
CHOSEN = "{conditions: [left, right], items: 4, registration_may_choose: {seeds: {at_least: 5}}}"
GRIDS = {
    "whole": WHOLE,
    "whole, absent is worst": WHOLE.replace("items", "absent: worst, items"),
    "seeds by number": WHOLE.replace(SEEDS, "seeds: 5"),
    "chosen seeds": CHOSEN,
}
ROWS: dict[str, tuple[list[Row], str]] = {
    "all": (grid(), "passed"),
    "an absent seed": (grid(range(4)), "warned"),
    "an absent condition": (grid(conditions=("left",)), "warned"),
    "an episode that is absent": (grid()[:-1], "warned"),
    "more episodes": (grid(n=5), "failed"),
    "another seed": (grid(range(6)), "failed"),
    "another entrant too": ([*grid(), *grid(range(2), entrant="other")], "warned"),
}


def declared(axes: str, manifest: bytes = MANIFEST) -> Manifest:
    """Return the small benchmark with a grid."""
    return parse_manifest(manifest + f"\ngrid: {axes}\n".encode())


@pytest.mark.parametrize("of_grid", GRIDS)
def test_who_is_beyond_the_grid_is_refused_and_who_lacks_some_of_it_is_told(of_grid: str) -> None:
    """Registered or not; where seeds are chosen, the registration chooses enough of them, and an open grid asks nothing
    but items.
    """
    asked, few = declared(GRIDS[of_grid]), registered(seeds=(0, 1))
    is_chosen = of_grid == "chosen seeds"
    outcomes = {name: said(case(rows=rows, manifest=asked)) for name, (rows, _) in ROWS.items()}

    assert outcomes == {name: [outcome] for name, (_, outcome) in ROWS.items()}
    assert said(case(manifest=asked, registered=None)) == ([] if is_chosen else ["passed"])
    assert said(case(manifest=asked, registered=few)) == ["failed" if is_chosen else "passed"]
    assert [said(case(rows=rows, manifest=declared("{items: 4}"))) for rows, _ in ROWS.values()] == [[]] * len(ROWS)


def said(submission: Case) -> list[str]:
    """Return the outcomes of the checks of the grid."""
    return [check.outcome for check in check_grid(submission)]


def test_an_empty_score_counts_as_the_worst_in_a_submissions_own_numbers() -> None:
    """As it does on the boards: 20 successes of 40, when half of the episodes have no score."""
    scores = table(grid(), ("success", "violation"))
    scores.values[::2, 0] = float("nan")
    created = summarise(
        Evaluation(
            manifest=declared(WHOLE),
            rows=scores,
            facts=RunFacts(()),
            claims=None,
            bootstrap_method="cluster",
            measure=lambda _: [],
        )
    )
    (row,) = [each for each in created.tables[0].records() if each["metric"] == "success"]

    assert row["mean"] == 0.5
    assert tables_as_text(created.tables).startswith("# summary: ")


@pytest.mark.parametrize("absent", ["unranked", "worst"])
def test_a_grid_of_more_cells_than_memory_has_is_counted_and_not_written_out(absent: str) -> None:
    """40 successes of ten billion: the scores if the rest were worst and best; none is filled, so no rank."""
    manifest = declared(f"{{seeds: 5000, conditions: [left, right], items: 1000000, absent: {absent}}}")
    spec = manifest.leaderboards[0]
    assert isinstance(spec, EstimateBoard)
    scores = table(grid(), ("success", "violation"))
    held = hold_against_grid(manifest, spec, EntrantEvidence(scores.entrant.words[0], scores))

    assert held.bounds() == (pytest.approx(len(scores) / 1e10), 1.0)
    assert len(held.counted) == len(scores)
    assert held.coverage.n_attempted > MOST_CELLS
    assert held.coverage.why_unranked == "partial"


def test_the_items_of_a_grid_are_looked_up_in_one_set() -> None:
    """A thousand entrants against a million items: the names are put into a set once, not once for each of them."""
    axes = "{seeds: 5, conditions: [left, right], items: ["
    manifest = declared(axes + "'0', '1', '2', '3']}")
    of_one, of_other = (manifest.asked.cells_of("place", entrant).items for entrant in ("mover", "other"))

    assert isinstance(of_one, ItemNames)
    assert of_one is of_other
    assert of_one.known == {"0", "1", "2", "3"}


def test_what_two_versions_of_a_grid_ask_in_common_is_looked_up_once() -> None:
    """Who was admitted under an earlier version is asked for the items of both, the same object for every entrant."""
    now, before = ItemNames(("b", "a", "new")), ItemNames(("a", "b", "gone"))

    assert now.common(before) == ("b", "a")
    assert now.common(before) is now.common(before)
    assert now.common(now) is now
    assert now.common(ItemNames(("new",))) == ("new",)


def test_what_is_beyond_the_grid_or_absent_is_told_with_who_where_and_how_many() -> None:
    """And what becomes of it, by what the manifest says of absent cells."""
    reasons = [
        check_grid(case(rows=ROWS[rows][0], manifest=declared(GRIDS[of_grid])))[0].reason
        for rows, of_grid in (
            ("all", "whole"),
            ("more episodes", "whole"),
            ("an absent seed", "whole"),
            ("an absent seed", "whole, absent is worst"),
        )
    ]

    absent = "Absent from the benchmark's grid: mover on place has 32 of 40. What is absent"
    assert reasons == [
        "Every episode of the benchmark's grid is there, and no other.",
        "Beyond the benchmark's grid: mover on place has 10 episodes.",
        f"{absent} keeps an entrant off the ranks.",
        f"{absent} counts as the worst there is.",
    ]


def test_two_versions_ask_in_common_the_fewer_of_two_numbers_and_the_names_of_both() -> None:
    """Of a number and names, what is asked now."""
    asked = [common_axis(now, then) for now, then in ((3, 5), (5, 3), ((1, 2), (2, 3)), (3, (1, 2)), ((1, 2), 3))]

    assert asked == [3, 3, (2,), 3, (1, 2)]


TWO_TASKS = MANIFEST.replace(b"tasks: [{id: place}]", b"tasks: [{id: place}, {id: reach}]")
TODAY = "{seeds: [0, 1, 2, 3, 4], conditions: [left, right], items: 4}"
ASKED_BEFORE: dict[str, tuple[str, list[Row], Coverage]] = {
    "the same": (TODAY, grid(), Coverage(80, 40, n_absent=40)),
    "fewer seeds": (TODAY.replace("3, 4", "3"), grid(range(4)), Coverage(64, 32, n_absent=32, n_not_asked=16)),
    "other seeds": (TODAY.replace("3, 4", "9"), grid(range(4)), Coverage(56, 32, n_absent=24, n_not_asked=24)),
    "fewer seeds, all of today's delivered": (
        TODAY.replace("3, 4", "3"), grid() + grid(task="reach"), Coverage(80, 80)),
    "one condition": (TODAY.replace(", right", ""), grid(conditions=("left",)),
                      Coverage(40, 20, n_absent=20, n_not_asked=40)),
    "no condition": (TODAY.replace("conditions: [left, right], ", ""), grid(range(1)),
                     Coverage(8, 8, n_not_asked=72)),
    "fewer items": (TODAY.replace("items: 4", "items: 3"), grid(n=3), Coverage(60, 30, n_absent=30, n_not_asked=20)),
    "more items": (TODAY.replace("items: 4", "items: 6"), grid(), Coverage(80, 40, n_absent=40)),
}  # fmt: skip


@pytest.mark.parametrize("before", ASKED_BEFORE)
def test_what_an_earlier_grid_did_not_ask_for_is_not_absent(before: str) -> None:
    """Neither attempted; what it did ask for and was left out is."""
    axes, rows, expected = ASKED_BEFORE[before]

    assert coverage_of(rows, TODAY, axes) == expected


def test_a_task_that_was_added_is_not_asked_of_who_came_before() -> None:
    """Of a grid with one task before, and of one whose tasks were open; who delivers it has it all the same."""
    of_one = f"{MANIFEST.decode()}\ngrid: {TODAY}\n".encode()
    without = replace(declared(TODAY, TWO_TASKS).asked, tasks=None)

    assert coverage_of(grid(), TODAY, parse_manifest(of_one).asked) == Coverage(40, 40, n_not_asked=40)
    assert coverage_of(grid(), TODAY, without) == Coverage(40, 40, n_not_asked=40)
    assert coverage_of(grid() + grid(task="reach"), TODAY, without) == Coverage(80, 80)


def test_a_metric_that_was_added_is_asked_of_nobody_who_came_before() -> None:
    """Whatever they delivered of it by chance; one of several earlier grids that had it is enough."""
    asked = declared(TODAY, TWO_TASKS).asked
    older = replace(asked, metrics=("violation",))
    open_axes = replace(asked, grid=Grid())

    assert coverage_of(grid(), TODAY, older) == Coverage(0, 0, n_not_asked=80)
    assert coverage_of(grid(), "{items: 4}", replace(open_axes, metrics=())) == Coverage(0, 0, n_not_asked=40)
    assert coverage_of(grid(), TODAY, older, asked) == Coverage(80, 40, n_absent=40)


@pytest.mark.parametrize(
    ("chosen", "before", "expected"),
    [
        ((0, 1, 2, 3, 4), "seeds: 5, ", Coverage(80, 40, n_absent=40)),
        ((0, 1, 2), "seeds: 3, ", Coverage(48, 24, n_absent=24, n_not_asked=32)),
        (None, "seeds: [0, 1], ", Coverage(32, 16, n_absent=16, n_not_asked=48)),
        (None, "", Coverage(0, 0, n_not_asked=80)),
    ],
    ids=["as many as now", "three by registration", "two by the grid", "any"],
)
def test_seeds_that_registrations_choose_by_now_were_not_asked_before(
    chosen: tuple[int, ...] | None, before: str, expected: Coverage
) -> None:
    """What is asked is what the registration chose, or what the grid named then; today's least number is the rest."""
    facts = GridFacts() if chosen is None else GridFacts(chosen={"mover": {"seeds": chosen}})

    assert coverage_of(grid(), CHOSEN, f"{{{before}conditions: [left, right], items: 4}}", facts=facts) == expected


def coverage_of(rows: list[Row], axes: str, *earlier: str | RequiredGrid, facts: GridFacts = NO_FACTS) -> Coverage:
    """Return how much of a grid of two tasks an entrant has that was admitted under earlier ones, the newest last."""
    of_each = [declared(each, TWO_TASKS).asked if isinstance(each, str) else each for each in earlier]
    manifest = declared(axes, TWO_TASKS)
    scores = table(rows, ("success", "violation"))
    asked = replace(manifest.asked, facts=replace(facts, earlier={"mover": of_each}))

    return grid_of(asked, manifest.task_ids(), scores, "success", "mover").coverage
