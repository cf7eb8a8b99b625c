"""Whoever leaves out what is hard gains nothing, over HTTP: it ends without a rank, or with the worst one."""

from typing import Any

import pytest

from tests.cases import grids, publications
from tests.cases.grids import COUNTED, EPISODES, GRID, ITEMS, TASKS, by_entrant, only_right, rows
from tests.fixtures import Site

LENIENT = "prereg: optional, failure_policy: best_effort"
PERMISSIVE = EPISODES.replace("GRID", GRID).replace("prereg: optional", LENIENT)
EASY = "tasks: [arithmetic]"


def attack(site: Site, grid: str, result: list[Any], more: str | None = None) -> dict[str, Any]:
    """Return the board, by entrant, on which two honest ones meet the rows of `sly`; `more` is in its registration."""
    slug = grids.declare(site, EPISODES.replace("GRID", grid))
    grids.honest(site, slug)
    prereg = None if more is None else grids.register(site, slug, "sly", more)
    grids.send(site, slug, result, "bob", prereg)
    return by_entrant(grids.board(site, slug))


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


@pytest.mark.parametrize("grid", [GRID, COUNTED])
def test_who_leaves_something_out_has_no_rank_and_changes_nobodys(site: Site, grid: str) -> None:
    """Right answers alone, those of the registered easy task, one seed of the hard task, one record: apart, n of N.

    Ranks, intervals and chances of the others stay to the digit.
    """
    slug = grids.declare(site, EPISODES.replace("GRID", grid))
    grids.honest(site, slug)
    before = by_entrant(grids.board(site, slug))
    easy = [row for row in only_right("easy") if row[1] == TASKS[0]]
    grids.send(site, slug, only_right("right"), "bob")
    grids.send(site, slug, easy, "bob", grids.register(site, slug, "easy", EASY))
    grids.send(site, slug, [row for row in rows("seeds", "good") if row[1] == TASKS[0] or row[2] == 0], "bob")
    grids.send(site, slug, only_right("one")[:1], "bob")
    after = by_entrant(grids.board(site, slug))
    apart = {name: after.pop(name) for name in ("right", "easy", "seeds", "one")}

    assert after == before
    assert {(row["rank"], row["unranked_because"]) for row in apart.values()} == {(None, "partial")}
    assert {name: row["covered"] for name, row in apart.items()} == {
        "right": "20 of 80", "easy": "10 of 80", "seeds": "60 of 80", "one": "1 of 80"
    }  # fmt: skip
    assert (apart["right"]["rank_if_worst"], apart["right"]["rank_if_best"]) == (3, 1)


def test_only_right_answers_count_as_the_worst_where_the_manifest_says_so(site: Site) -> None:
    """Absent answers are wrong ones: the same score as with the wrong ones told, and the last rank."""
    shown = attack(site, GRID.replace("}", ", absent: worst}"), only_right("sly"))

    assert (shown["sly"]["rank"], shown["sly"]["score"]) == (3, pytest.approx(0.25))
    assert (shown["sly"]["n_absent"], shown["sly"]["n_failed"]) == (60, 0)


def test_an_empty_score_is_an_absence(site: Site) -> None:
    """The wrong answers as empty cells: not admitted, and without a rank where the manifest permits best_effort."""
    blank = [(*row[:-1], row[-1] or "") for row in rows("sly")]
    strict = attack(site, GRID, blank)
    slug = grids.declare(
        site, EPISODES.replace("GRID", GRID).replace("optional}", "optional, failure_policy: best_effort}")
    )
    grids.honest(site, slug)
    grids.send(site, slug, blank, "bob")
    lenient = by_entrant(grids.board(site, slug))

    assert "sly" not in strict
    assert (lenient["sly"]["rank"], lenient["sly"]["n_failed"], lenient["sly"]["covered"]) == (None, 60, "20 of 80")


def test_an_empty_value_of_a_metric_that_does_not_rank_is_told_on_the_board(site: Site) -> None:
    """Latencies of the two fastest items alone are no better latency: the board says how many are left out."""
    beside = "metrics: {latency: {direction: minimize, min: 0, max: 100}, score:"
    manifest = EPISODES.replace("GRID", COUNTED).replace("metrics: {score:", beside)
    slug = grids.declare(site, manifest.replace("metrics: [score]", "metrics: [score, latency], rank_by: score"))
    slow = {entrant: [(*row, 90) for row in rows(entrant, "good")] for entrant in ("good", "sly")}
    fast = [(*row[:-1], 1) if row[3] in ITEMS[:2] else (*row[:-1], "") for row in slow["sly"]]
    for who, actual in (("alice", slow["good"]), ("bob", fast)):
        content = publications.table((*grids.COLUMNS, "latency"), actual)
        publications.send(site, slug, "r.csv", content, who)
    shown = grids.board(site, slug)

    assert by_entrant(shown)["sly"]["latency"] == 1
    assert "Left out of an average, for want of a value: latency of sly (72)." in shown["notes"]


@pytest.mark.parametrize(("top", "shown", "words"), [(", max: 100", 90.1, None), ("", None, "has no worst value")])
def test_an_empty_value_beside_the_ranks_counts_as_the_worst_too(
    site: Site, top: str, shown: float | None, words: str | None
) -> None:
    """Under `absent: worst`: 72 of 80 latencies left empty are 100, or there is no latency where none is the worst."""
    beside = f"metrics: {{latency: {{direction: minimize, min: 0{top}}}, score:"
    manifest = EPISODES.replace("GRID", COUNTED.replace("}", ", absent: worst}")).replace("metrics: {score:", beside)
    slug = grids.declare(site, manifest.replace("metrics: [score]", "metrics: [score, latency], rank_by: score"))
    actual = [(*row, 1 if row[3] in ITEMS[:2] else "") for row in rows("sly", "good")]
    publications.send(site, slug, "r.csv", publications.table((*grids.COLUMNS, "latency"), actual))
    board = grids.board(site, slug)

    parts = site.http.get(f"/benchmarks/{slug}/leaderboards/board/breakdown.json").json()["rows"]
    of_parts = [row["value"] for row in parts if row["metric"] == "latency"]

    assert by_entrant(board)["sly"]["latency"] == (None if shown is None else pytest.approx(shown))
    assert of_parts == [None if shown is None else pytest.approx(shown)] * len(TASKS)
    assert any("latency of sly (72)" in note and words in note for note in board["notes"]) == bool(words)


def test_other_seeds_on_each_task_are_told(site: Site) -> None:
    """Two seeds of each task as asked, and not the same ones: a warning says that they may have been chosen."""
    slug = grids.declare(site, EPISODES.replace("GRID", COUNTED))
    actual = [row for task, seeds in zip(TASKS, ((0, 1), (2, 3)), strict=True) for row in rows("sly", tasks=[task],
                                                                                           seeds=seeds)]  # fmt: skip
    (check,) = [each for each in grids.send(site, slug, actual)["checks"] if each["rule"] == "grid"]

    assert (check["outcome"], "sly has 4 in all" in check["reason"]) == ("warned", True)


def test_a_registration_alone_permits_no_best_effort(site: Site) -> None:
    """The submitter says best_effort and leaves out what failed: the manifest is strict, so the run is not admitted."""
    slug = grids.declare(site, EPISODES.replace("GRID", GRID))
    grids.honest(site, slug)
    prereg = grids.register(site, slug, "sly", f"failure_policy: best_effort\ntasks: [{', '.join(TASKS)}]")
    missing_a_seed = [row for row in rows("sly", "good") if row[2] == 0]
    sent = grids.send(site, slug, missing_a_seed, "bob", prereg)
    checks = {check["rule"]: check["outcome"] for check in sent["checks"]}

    assert (sent["status"], checks["seeds"], checks["failure_policy_permitted"]) == ("not_admitted", "failed", "warned")
    assert "sly" not in by_entrant(grids.board(site, slug))


def test_a_permitted_best_effort_says_n_of_n(site: Site) -> None:
    """With the manifest's permission the run is admitted, and has no rank all the same."""
    slug = grids.declare(site, PERMISSIVE)
    grids.honest(site, slug)
    prereg = grids.register(site, slug, "sly", "failure_policy: best_effort")
    sent = grids.send(site, slug, only_right("sly"), "bob", prereg)
    shown = by_entrant(grids.board(site, slug))

    assert sent["admitted"], sent["checks"]
    assert (shown["sly"]["rank"], shown["sly"]["covered"]) == (None, "20 of 80")


def test_easier_items_under_names_of_ones_own_are_told_where_the_grid_only_counts_them(site: Site) -> None:
    """Twenty items that nobody else has, all right: the note below the board names who has them."""
    slug = grids.declare(site, EPISODES.replace("GRID", COUNTED))
    grids.honest(site, slug)
    before = grids.board(site, slug)["notes"]
    easy = [(who, task, seed, f"easy-{item}", 1) for who, task, seed, item, _ in rows("sly", "good")]
    grids.send(site, slug, easy, "bob")
    after = grids.board(site, slug)["notes"]

    assert not any("Of other items than most" in note for note in before)
    assert any("Of other items than most have: sly." in note for note in after)


def test_items_of_ones_own_are_not_admitted(site: Site) -> None:
    """Easy items beyond the grid would lift a mean: the check names how many there are."""
    slug = grids.declare(site, EPISODES.replace("GRID", GRID))
    more = [*rows("sly"), *(("sly", "code", 0, f"easy{at}", 1) for at in range(30))]
    sent = grids.send(site, slug, more, "bob")
    (check,) = [check for check in sent["checks"] if check["rule"] == "grid"]

    assert (sent["status"], check["outcome"]) == ("not_admitted", "failed")
    assert check["reason"] == "Beyond the benchmark's grid: sly on code has 30 episodes."


def test_more_seeds_than_asked_are_not_admitted(site: Site) -> None:
    """Two seeds are asked; whoever runs three could show the best two of them."""
    slug = grids.declare(site, EPISODES.replace("GRID", COUNTED))
    sent = grids.send(site, slug, rows("sly", seeds=(0, 1, 2)), "bob")

    assert sent["status"] == "not_admitted"


def test_without_a_grid_the_board_is_provisional_until_a_steward_fixes_it(site: Site) -> None:
    """Who lacks something ranks behind; when the grid is declared it has no rank and the note is gone."""
    slug = grids.declare(site, EPISODES.replace("GRID", ""))
    grids.honest(site, slug)
    grids.send(site, slug, only_right("sly"), "bob")
    open_board = grids.board(site, slug)
    fixed = EPISODES.replace("GRID", COUNTED).replace("SLUG", slug)
    site.http.put(f"/benchmarks/{slug}", content=fixed, headers=site.auth("steward") | grids.YAML)
    closed = grids.board(site, slug)

    assert by_entrant(open_board)["sly"]["rank"] == 3
    assert any(note.startswith("Provisional") for note in open_board["notes"])
    assert not any(note.startswith("Provisional") for note in closed["notes"])
    assert by_entrant(closed)["sly"]["rank"] is None


def test_cells_added_later_are_not_asked_of_who_was_admitted_before(site: Site) -> None:
    """The new board lists it without a rank and says so; the old board stays as it was."""
    manifest = EPISODES.replace("GRID", GRID)
    slug = grids.declare(site, manifest, ITEMS[:10])
    grids.send(site, slug, [row for row in rows("old", "good") if row[3] in ITEMS[:10]])
    before = grids.board(site, slug)
    site.http.put(
        f"/benchmarks/{slug}", content=manifest.replace("SLUG", slug) + "description: more\n",
        headers=site.auth("steward") | grids.YAML,
    )  # fmt: skip
    put = grids.put_items(site, slug, ITEMS)
    grids.send(site, slug, rows("new", "fair"), "bob")
    after = by_entrant(grids.board(site, slug))
    kept = site.http.get(f"/benchmarks/{slug}/leaderboards/board.json?snapshot={before['snapshot']}")

    assert put.status_code == 201, put.text
    assert (after["old"]["rank"], after["old"]["unranked_because"]) == (None, "not asked")
    assert (after["old"]["covered"], after["old"]["n_absent"]) == ("40 of 40", 0)
    assert after["new"]["rank"] == 1
    assert kept.json()["rows"] == before["rows"]


def test_a_registration_chooses_only_what_the_manifest_frees(site: Site) -> None:
    """Its three seeds are the grid of its run: two of them are two thirds, and naming two is too few."""
    free = "grid: {items: 20, registration_may_choose: {seeds: {at_least: 3}}}"
    manifest = EPISODES.replace("GRID", free).replace("prereg: optional", LENIENT.replace("optional", "required"))
    slug = grids.declare(site, manifest)
    for name, seeds, run in (("whole", "4, 5, 6", (4, 5, 6)), ("part", "7, 8, 9", (7, 8)), ("few", "1, 2", (1, 2))):
        prereg = grids.register(site, slug, name, "failure_policy: best_effort", seeds)
        last = grids.send(site, slug, rows(name, "fair", seeds=run), "bob", prereg)
    shown = by_entrant(grids.board(site, slug))

    assert (shown["whole"]["rank"], shown["whole"]["covered"]) == (1, "120 of 120")
    assert (shown["part"]["rank"], shown["part"]["covered"]) == (None, "80 of 120")
    assert last["status"] == "not_admitted"


def test_items_are_put_once_for_a_version_and_by_its_steward_alone(site: Site) -> None:
    """The same bytes again are no change, others are refused, and so is everybody else and who asks for no file."""
    slug = grids.declare(site, EPISODES.replace("GRID", GRID))
    other = grids.declare(site, EPISODES.replace("GRID", COUNTED))
    answers = [grids.put_items(site, slug, ITEMS), grids.put_items(site, slug, ITEMS[:3]),
               grids.put_items(site, slug, ITEMS, "bob"), grids.put_items(site, other, ITEMS)]  # fmt: skip
    shown = site.http.get(f"/benchmarks/{slug}/items").json()

    assert [answer.status_code for answer in answers] == [200, 409, 403, 409]
    assert [(each["task"], each["n_items"]) for each in shown["tasks"]] == [("", 20)]


def test_a_file_of_items_is_refused_with_every_row_that_is_wrong(site: Site) -> None:
    """A repeated item, an empty one and an unknown task, each with its row."""
    slug = grids.declare(site, EPISODES.replace("GRID", GRID), None)
    content = "task,item\ncode,a\ncode,a\ncode,\nart,b\n"
    put = {"file": ("items.csv", content)}
    answer = site.http.put(f"/benchmarks/{slug}/items", files=put, headers=site.auth("steward"))

    assert answer.status_code == 422
    problems = answer.json()["problems"]
    assert [(p["row"], p["column"]) for p in problems] == [(3, "item"), (4, "item"), (5, "task")]
    assert (problems[2]["message"], problems[2]["value"]) == (
        "not a task of this benchmark; it has arithmetic, code",
        "art",
    )


def test_a_table_of_items_comes_without_other_fields(site: Site) -> None:
    """A field that nobody reads is refused by its name, as with labels."""
    slug = grids.declare(site, EPISODES.replace("GRID", GRID), None)
    sent = {"file": ("items.csv", "item\nq00\n"), "version": (None, "2")}
    answer = site.http.put(f"/benchmarks/{slug}/items", files=sent, headers=site.auth("steward"))

    assert (answer.status_code, [problem["column"] for problem in answer.json()["problems"]]) == (422, ["version"])
