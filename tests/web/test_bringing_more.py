"""Whoever brings items of his own to a benchmark without a grid leads nobody, over HTTP and for every kind."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.cases import grids, publications
from tests.cases.publications import CLASSES, table
from tests.fixtures import Site

HONEST = (("alice", "A"), ("steward", "B"))
OWN = tuple(f"own{at:02}" for at in range(30))
Files = dict[str, str | bytes]


def episodes() -> tuple[str, Files, str]:
    """Two who answer alike on twenty items, and one who also answers thirty of its own, all right."""
    places = [(task, seed, item) for task, seed, item in itertools.product(grids.TASKS, (0, 1), grids.ITEMS)]
    files: Files = {}
    for name in ("A", "B", "sly"):
        own = [(name, "code", seed, item, 1) for seed in (0, 1) for item in OWN] if name == "sly" else []
        rows = [(name, *place, grids.right("good", place[-1])) for place in places]
        files[name] = table(grids.COLUMNS, [*rows, *own])
    return grids.EPISODES.replace("GRID", ""), files, "board"


def summaries() -> tuple[str, Files, str]:
    """Two on three tasks of an open list, and one who also has thirty of its own, of the best scores."""
    files: Files = {}
    for at, name in enumerate(("A", "B", "sly")):
        tasks = (*publications.TASKS, *(OWN if name == "sly" else ()))
        rows = [[name, task, "False", 1, 99 if task in OWN else 3 - at, 1, 1, 1, 1] for task in tasks]
        files[name] = table(publications.SUMMARY_COLUMNS, rows)
    return publications.SUMMARY.replace("TASKS", publications.OPEN), files, "mean"


def series() -> tuple[str, Files, str]:
    """Two on five records, and one who also has thirty of its own, without any error."""
    files: Files = {}
    for at, name in enumerate(("A", "B", "sly")):
        mine = {(record, metric): str(1 + at) for record in publications.RECORDS for metric in ("mae", "rmse")}
        own = {(f"r{100 + n}", metric): "0" for n in range(30) for metric in ("mae", "rmse")} if name == "sly" else {}
        files[name] = table(publications.COLUMNS, publications.run_rows(name, mine | own))
    return publications.SERIES, files, "shared"


def predictions() -> tuple[str, Files, str]:
    """Two on forty examples with labels of their own, and one who also has thirty easy ones."""
    files: Files = {}
    for name in ("A", "B", "sly"):
        rows: list[Sequence[object]] = [[name, f"i{at}", at % 2, 0.7 if at % 4 < 3 else 0.3] for at in range(40)]
        own = [[name, item, at % 2, float(at % 2)] for at, item in enumerate(OWN)] if name == "sly" else []
        words = [[*row[:2], "yes" if row[2] else "no", row[3]] for row in (*rows, *own)]
        files[name] = table(("entrant", "item", "label", "prediction"), words)
    return publications.predictions(f"{CLASSES[0]}, labels: submitted", "accuracy logloss"), files, "b0"


def other_labels() -> tuple[str, Files, str]:
    """Two on forty examples with the same labels of their own, and one whose labels are what it predicts."""
    manifest, files, board = predictions()
    rows = [["sly", f"i{at}", "yes" if at % 4 < 2 else "no", 0.9 if at % 4 < 2 else 0.1] for at in range(40)]
    return manifest, {**files, "sly": table(("entrant", "item", "label", "prediction"), rows)}, board


def other_weights() -> tuple[str, Files, str]:
    """One with a column of equal weights and one without any, and one who weighs down what it gets wrong."""
    manifest, files, board = predictions()
    plain = [["A", f"i{at}", "yes" if at % 2 else "no", 0.7 if at % 4 < 3 else 0.3, 2] for at in range(40)]
    rows = [[f"i{at}", "yes" if at % 2 else "no", 0.7 if at % 3 else 0.3] for at in range(40)]
    light = [["sly", *row, 1 if (row[1] == "yes") == (row[2] == 0.7) else 1e-6] for row in rows]
    header = ("entrant", "item", "label", "prediction", "weight")
    return manifest, {**files, "A": table(header, plain), "sly": table(header, light)}, board


MADE = [episodes, summaries, series, predictions, other_labels, other_weights]


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


@pytest.mark.parametrize("created", MADE, ids=lambda created: created.__name__)
def test_items_of_ones_own_lead_nobody(site: Site, created: Callable[[], tuple[str, Files, str]]) -> None:
    """The ranks of the others stay, the one with more is behind them, and nobody is said to be possibly first."""
    manifest, files, board = created()
    slug = grids.declare(site, manifest, None)
    for who, name in HONEST:
        publications.send(site, slug, "metrics.csv", files[name], who)
    before = grids.by_entrant(grids.board(site, slug, board))
    publications.send(site, slug, "metrics.csv", files["sly"], "bob")
    shown = grids.board(site, slug, board)
    after: dict[str, Any] = grids.by_entrant(shown)

    assert [after[name]["rank"] for _, name in HONEST] == [before[name]["rank"] for _, name in HONEST]
    assert after["sly"]["rank"] == 3
    assert {(row["first_resamples_share"], row["may_be_first"]) for row in after.values()} == {(None, None)}
    assert {(row["rank_low"], row["rank_high"]) for row in after.values()} == {(None, None)}
    assert shown["meta"]["statement"][0] == "Provisional."
    assert any("nobody is said to be possibly first, until a steward declares" in note for note in shown["notes"])


@pytest.mark.parametrize(
    ("first", "ranks", "n_absent"), [("A", {"A": 1, "sly": 2}, 0), ("sly", {"sly": 1, "A": 2}, 60)]
)
def test_of_two_who_differ_the_first_says_what_counts(
    site: Site, first: str, ranks: dict[str, int], n_absent: int
) -> None:
    """Who adds records later gains nothing, and who leaves out what was there ranks behind."""
    manifest, files, board = series()
    slug = grids.declare(site, manifest, None)
    for name in sorted(("A", "sly"), key=lambda each: each != first):
        publications.send(site, slug, "metrics.csv", files[name], {"A": "alice", "sly": "bob"}[name])
    shown = grids.by_entrant(grids.board(site, slug, board))

    assert ({name: row["rank"] for name, row in shown.items()}, shown["A"]["n_absent"]) == (ranks, n_absent)
    assert {row["may_be_first"] for row in shown.values()} == {None}


@pytest.mark.parametrize(("created", "is_told"), [(other_weights, True), (other_labels, True), (episodes, False)])
def test_two_who_differ_in_labels_or_weights_are_told_apart(
    site: Site, created: Callable[[], tuple[str, Files, str]], is_told: bool
) -> None:
    """Nobody can say whose are right, and the board does not hide it; of two of the same items nothing is said."""
    manifest, files, board = created()
    slug = grids.declare(site, manifest, None)
    publications.send(site, slug, "metrics.csv", files["A"], "alice")
    publications.send(site, slug, "metrics.csv", files["sly" if is_told else "B"], "bob")
    notes = grids.board(site, slug, board)["notes"]

    assert any(note.startswith("These scores are not all about the same") for note in notes) is is_told


def test_who_is_right_everywhere_is_ranked_and_flagged(site: Site) -> None:
    """80 of 80: told by a check when it is sent and on its row, in words that a program reads, and never refused."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", grids.GRID))
    grids.honest(site, slug)
    reported = grids.send(site, slug, [(*row[:-1], 1) for row in grids.rows("perfect", "good")], "bob")
    shown = grids.by_entrant(grids.board(site, slug))

    assert [check["outcome"] for check in reported["checks"] if check["rule"] == "exact_best"] == ["warned"]
    assert (shown["perfect"]["rank"], shown["perfect"]["flags"]) == (1, "exact_best")
    assert shown["good"]["flags"] is None


def test_a_readers_choice_is_of_the_tasks_of_the_board(site: Site) -> None:
    """Three entrants of one submitter are no majority there either."""
    manifest, files, board = summaries()
    slug = grids.declare(site, manifest, None)
    for who, name in HONEST:
        publications.send(site, slug, "metrics.csv", files[name], who)
    for name in ("sly1", "sly2", "sly3"):
        publications.send(site, slug, "metrics.csv", str(files["sly"]).replace("sly", name), "bob")
    shown = grids.by_entrant(grids.board(site, slug, board))
    address = f"/benchmarks/{slug}/leaderboards/{board}/explore.json"
    chosen = grids.by_entrant(site.http.get(address, params={"entrant": [*shown]}).json())

    assert len(shown) == 5
    assert {name: row["n_attempted"] for name, row in chosen.items()} == {
        name: row["n_attempted"] for name, row in shown.items()
    }
