"""What admission says of episodes and the grid: what is beyond it, absent from it, and seeds of one's own choice."""

from collections.abc import Iterator

import pytest

from app.admission.case import Check
from app.boards.measured import EntrantEvidence
from app.boards.methods.estimate import EstimateBoard
from app.kinds.contract import Evaluation
from app.kinds.episodes.coverage import MOST_CELLS, hold_against_grid
from app.kinds.episodes.rules import check_grid
from app.kinds.episodes.summary import summarise
from app.kinds.parse import parse_manifest
from app.manifest.model import ItemNames, Manifest
from app.values.facts import RunFacts
from tests.cases.admission import Row, case, grid, registered, table
from tests.cases.chamber import MANIFEST
from tests.cases.frozen import assert_same, checks_as_text, tables_as_text

SEEDS = "seeds: [0, 1, 2, 3, 4]"
WHOLE = f"{{{SEEDS}, conditions: [left, right], items: 4}}"
CHOSEN = "{conditions: [left, right], items: 4, registration_may_choose: {seeds: {at_least: 5}}}"
GRIDS = {
    "open": "{items: 4}",
    "whole": WHOLE,
    "whole, absent is worst": WHOLE.replace("items", "absent: worst, items"),
    "seeds by number": WHOLE.replace(SEEDS, "seeds: 5"),
    "chosen seeds": CHOSEN,
}
ROWS: dict[str, list[Row]] = {
    "all": grid(),
    "an absent seed": grid(range(4)),
    "an absent condition": grid(conditions=("left",)),
    "episodes that are absent": grid()[:-3],
    "more episodes": grid(n=5),
    "another seed": grid(range(6)),
    "another entrant too": [*grid(), *grid(range(2), entrant="other")],
}


def declared(axes: str) -> Manifest:
    """Return the small benchmark with a grid."""
    return parse_manifest(MANIFEST + f"\ngrid: {axes}\n".encode())


def answers() -> Iterator[tuple[str, list[Check]]]:
    """Yield what is said under each grid of each submission, registered and not."""
    for name, axes in GRIDS.items():
        manifest = declared(axes)
        for what, rows in ROWS.items():
            yield f"{name}: {what}", check_grid(case(rows=rows, manifest=manifest))
        yield f"{name}: not registered", check_grid(case(manifest=manifest, registered=None))
        yield f"{name}: few registered", check_grid(case(manifest=manifest, registered=registered(seeds=(0, 1))))


def test_the_checks_of_the_grid_are_as_they_were() -> None:
    """Who is refused, who is warned and why."""
    assert_same("grid-checks", checks_as_text(answers()))


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
