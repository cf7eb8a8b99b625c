"""What admission says of episodes and the grid: what is beyond it, absent from it, and seeds of one's own choice."""

from collections.abc import Iterator

from app.admission.check import Check
from app.kinds.contract import Evaluation
from app.kinds.episodes.grid_rules import check_grid
from app.kinds.episodes.summary import summarise
from app.kinds.parse import parse_manifest
from app.manifest.manifest import Manifest
from app.values.facts import RunFacts
from tests.cases.admission import Row, case, grid, registered, table
from tests.cases.chamber import MANIFEST
from tests.cases.frozen import assert_frozen, checks_as_text, tables_as_text

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
    assert_frozen("grid-checks", checks_as_text(answers()))


def test_an_empty_score_counts_as_the_worst_in_a_submissions_own_numbers() -> None:
    """As it does on the boards: 20 successes of 40, when half of the episodes have no score."""
    scores = table(grid(), ("success", "violation"))
    scores.values[::2, 0] = float("nan")
    made = summarise(
        Evaluation(
            manifest=declared(WHOLE),
            rows=scores,
            facts=RunFacts(()),
            claims=None,
            bootstrap_method="cluster",
            measure=lambda _: [],
        )
    )
    (row,) = [each for each in made.tables[0].records() if each["metric"] == "success"]

    assert row["mean"] == 0.5
    assert tables_as_text(made.tables).startswith("# summary: ")
