"""A grid of a million items over HTTP: put in one file, asked of everybody, and counted on the board."""

import pytest

from tests.cases import grids, publications
from tests.cases.grids import EPISODES, by_entrant
from tests.conftest import Site

N_ITEMS, N_SENT = 1_000_000, 55
GRID = "grid: {seeds: [0], items: file}"


@pytest.mark.slow
@pytest.mark.parametrize("absent", ["", ", absent: worst"])
def test_a_few_right_answers_of_a_million_win_nothing(roomy_site: Site, absent: str) -> None:
    """55 of 1,000,000, all right: no rank, or a score of 55 in a million; the others stay as they were."""
    manifest = EPISODES.replace("tasks: [{id: arithmetic}, {id: code}]", "tasks: [{id: arithmetic}]")
    slug = grids.declare(
        roomy_site, manifest.replace("GRID", GRID.replace("}", f"{absent}}}")), map(str, range(N_ITEMS))
    )
    half = [("honest", "arithmetic", 0, at, at % 2) for at in range(N_ITEMS)]
    few = [("sly", "arithmetic", 0, at, 1) for at in range(N_SENT)]
    for who, rows in (("alice", half), ("bob", few)):
        publications.send(roomy_site, slug, "r.csv", publications.table(grids.COLUMNS, rows), who)
    shown = by_entrant(grids.board(roomy_site, slug))

    assert (shown["honest"]["rank"], shown["honest"]["score"]) == (1, 0.5)
    assert shown["sly"]["covered"] == f"{N_SENT} of {N_ITEMS:,}"
    assert (shown["sly"]["rank"], shown["sly"]["score"]) == ((2, N_SENT / N_ITEMS) if absent else (None, 1.0))
