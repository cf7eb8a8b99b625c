"""Seeds that a submitter chooses, and what a registration leaves out of the grid: told before the run and where ranks
are read.
"""

import pytest

from tests.cases import grids
from tests.cases.grids import COUNTED, EPISODES, GRID, YAML
from tests.fixtures import Site

FREE = "grid: {items: 20, registration_may_choose: {seeds: {at_least: NUMBER}}}"


def manifest(grid: str) -> str:
    """Return a manifest with a grid; what a registration may choose, every run must register."""
    needed = "required" if "may_choose" in grid else "optional"
    return EPISODES.replace("GRID", grid).replace("prereg: optional", f"prereg: {needed}")


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


@pytest.mark.parametrize(
    ("grid", "note"),
    [
        (COUNTED, "The benchmark says how many seeds there are and not which: each submitter chose its own"),
        (FREE.replace("NUMBER", "2"), "Each registration chose its seeds;"),
        (GRID, None),
    ],
)
def test_a_board_says_that_seeds_were_chosen(site: Site, grid: str, note: str | None) -> None:
    """Whoever ran fifty can send the luckiest five, under any names: only the reader can be told."""
    slug = grids.declare(site, manifest(grid))
    grids.send(site, slug, grids.rows("good", "good"), "bob", grids.register(site, slug, "good"))
    notes = grids.board(site, slug)["notes"]
    page = site.http.get(f"/benchmarks/{slug}", headers={"Accept": "text/html"}).text

    assert [each[: len(note or "")] for each in notes if "chose its" in each] == ([note] if note else [])
    assert "Every entrant is asked for" in page
    assert ("each submitter chooses" in page) is (grid != GRID)


def test_what_a_registration_leaves_out_of_the_grid_is_said_at_registration(site: Site) -> None:
    """It shrinks no grid, so a run of it would be partial, or not admitted: better known before the run."""
    warned = [
        registered_for(site, FREE.replace("NUMBER", "5"), "tasks: [code]\nseeds: [0, 1]"),
        registered_for(site, COUNTED, "seeds: [0, 1, 2]"),
        registered_for(site, "grid: {seeds: [0, 1], items: 20}", "seeds: [1, 7]"),
        registered_for(site, COUNTED, "tasks: all\nseeds: [3, 4]"),
    ]

    assert warned == [
        [
            "The benchmark asks for 5 seeds or more, and the registration names 2: a run of it would not be admitted.",
            "The benchmark asks for arithmetic too: a run without them is partial.",
        ],
        ["The benchmark asks for 2 seeds, and the registration names 3."],
        [
            "The benchmark asks for seeds 0 too: a run without them is partial.",
            "The benchmark does not ask for seeds 7: a run with them is not admitted.",
        ],
        [],
    ]


def registered_for(site: Site, grid: str, lines: str) -> list[str]:
    """Return what is said of a registration for a benchmark of its own, which has a grid."""
    slug = grids.declare(site, manifest(grid))
    text = f"benchmark: {slug}\nentrants: [sly]\nmetrics: [score]\n{lines}\n"
    answer = site.http.post("/preregs", content=text, headers=site.auth() | YAML)
    return list(answer.json()["warnings"])


@pytest.mark.parametrize(
    ("axes", "n_ranked"),
    [("tasks: {code: {items: 5}}", 2), ("entrants: {poor: {items: 5}}", 2), ("tasks: {code: {items: 6}}", 0)],
)
def test_a_run_of_all_that_the_grid_asks_for_is_ranked(site: Site, axes: str, n_ranked: int) -> None:
    """Also where one task, or one entrant, is asked for fewer items: `strict` counts within them."""
    slug = grids.declare(site, manifest(f"grid: {{seeds: [0, 1], items: 20, {axes}}}"))
    all_rows = [row for name in ("good", "poor") for row in grids.rows(name, name)]
    is_small = {"tasks": lambda row: row[1] == "code", "entrants": lambda row: row[0] == "poor"}[axes.partition(":")[0]]
    result = [row for row in all_rows if not is_small(row) or row[3] in grids.ITEMS[:5]]
    prereg = grids.register(site, slug, "good, poor")
    sent = grids.send(site, slug, result, "bob", prereg)
    rows = grids.board(site, slug)["rows"]
    checks = {each["rule"]: each for each in site.http.get(f"/submissions/{sent['id']}.json").json()["checks"]}

    assert checks["episodes_per_seed"]["outcome"] == "warned"
    assert sum(row["rank"] is not None for row in rows) == n_ranked


def test_who_takes_a_name_that_is_asked_less_is_flagged(site: Site) -> None:
    """Five items are asked of `pair`, a name that anybody may have: its best five are first, and the row says so."""
    slug = grids.declare(site, manifest("grid: {seeds: [0, 1], items: 20, entrants: {pair: {items: 5}}}"))
    grids.send(site, slug, grids.rows("good", "good"), "bob")
    best = [row for row in grids.rows("pair", "poor") if row[3] in grids.ITEMS[:5]]
    sent = grids.send(site, slug, best, "alice")
    shown = grids.by_entrant(grids.board(site, slug))
    (check,) = [each for each in sent["checks"] if each["rule"] == "own_grid"]

    assert (check["outcome"], "pair, which the manifest's grid names" in check["reason"]) == ("warned", True)
    assert (shown["pair"]["rank"], "own_grid" in shown["pair"]["flags"]) == (1, True)
    assert shown["good"]["flags"] is None


def test_a_steward_s_own_entrant_may_be_asked_something_else(site: Site) -> None:
    """Who wrote the manifest wrote that too."""
    slug = grids.declare(site, manifest("grid: {seeds: [0, 1], items: 20, entrants: {pair: {seeds: [0]}}}"))
    grids.send(site, slug, grids.rows("pair", "poor", seeds=(0,)), "steward")

    assert grids.by_entrant(grids.board(site, slug))["pair"]["flags"] is None
