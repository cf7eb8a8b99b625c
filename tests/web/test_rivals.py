"""What one gains by sending rivals, copies and slips of the pen, on real forecasts, over HTTP: what a reader then sees.

Each attack is tried with submitters' tokens alone; it may win a rank, and not without a reader being told.
"""

import csv
from collections.abc import Mapping
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from app.db.models import StoredFingerprint
from app.rights import tokens
from app.stats.arrays import FloatArray
from tests.cases import grids
from tests.cases.databases import tampering
from tests.fixtures import Site

RESULTS = Path(__file__).resolve().parents[2] / "examples" / "fev-bench" / "results"
HONEST = ("chronos-2", "tirex", "toto-1_0", "timesfm-2_5", "moirai-2_0", "chronos-bolt", "seasonal_naive")
N_TASKS = 40
BOARDS = ("mean", "borda", "mean_rank", "mean_win_rate")


@cache
def real() -> Mapping[str, FloatArray]:
    """Return the scaled quantile losses of models of fev-bench on its first forty tasks."""
    read: dict[str, dict[str, float]] = {}
    for name in HONEST:
        with (RESULTS / f"{name}.csv").open() as file:
            of_task = {row["task_name"]: float(row["SQL"]) for row in csv.DictReader(file) if row["SQL"]}
        read[name] = of_task
    common = sorted(set.intersection(*(set(own) for own in read.values())))[:N_TASKS]
    return {name: np.array([own[task] for task in common]) for name, own in read.items()}


def manifest(more: str = "", tasks: str = "") -> str:
    """Return the manifest of a benchmark of these tasks with a board of each method."""
    named = tasks or "[" + ", ".join(f"{{id: t{at:02}}}" for at in range(N_TASKS)) + "]"
    boards = "\n".join(
        f"  - {{name: {method.replace('_', '-')}, method: {method}, metric: error{more if method != 'mean' else ''}}}"
        for method in (BOARDS if not tasks else ("mean",))
    )
    return f"""
schema_version: 1
slug: SLUG
title: Rivals
evidence: evaluation_summary
columns: {{entrant: model, task: task, leaked: null}}
metrics: {{error: {{direction: minimize, min: 0}}}}
tasks: {named}
leaderboards:
{boards}
"""


def send(site: Site, slug: str, who: str, values: Mapping[str, FloatArray], first: int = 0) -> dict[str, Any]:
    """Submit the errors of some entrants on as many tasks, and return the answer."""
    rows = [
        f"{name},t{first + at:02},{error!r}" for name, own in values.items() for at, error in enumerate(own.tolist())
    ]
    file = "\n".join(["model,task,error", *rows, ""]).encode()
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", file))], headers=site.auth(who)
    )
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


def read(site: Site, slug: str, board: str) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return a published board's rows by entrant, and all of its JSON."""
    site.work()
    page = site.http.get(f"/benchmarks/{slug}/leaderboards/{board}.json").json()
    return {row["entrant"]: row for row in page["rows"]}, page


def rivals_of(leader: FloatArray, mine: FloatArray, n: int = 6) -> dict[str, FloatArray]:
    """Return decoys that are better than the leader only where `mine` is, and behind both elsewhere."""
    better, worst = mine < leader, np.maximum(mine, leader)
    return {f"decoy {at}": np.where(better, (mine + leader) / 2, worst * (1.5 + at / 50)) for at in range(n)}


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them, with one submitter more: each test makes a benchmark of its own."""
    with shared_site.sessions.begin() as session:
        shared_site.tokens["carol"] = tokens.create_token(session, "carol", "submitter")[1]
    return shared_site


def test_decoys_are_named_with_their_owner_and_named_opponents_keep_them_out(site: Site) -> None:
    """One of several tokens decides who is first: said of that one, not of who loaded the honest results."""
    leader, mine = real()["chronos-2"], real()["tirex"] * 0.995
    boards = [board.replace("_", "-") for board in BOARDS if board != "mean"]
    before, after = {}, {}
    for more in ("", f", opponents: [{', '.join(HONEST[2:])}]"):
        slug = grids.declare(site, manifest(more), None)
        send(site, slug, "steward" if more else "alice", {name: real()[name] for name in HONEST})
        send(site, slug, "bob", {"mine": mine})
        before |= {(more, board): read(site, slug, board)[0] for board in boards}
        send(site, slug, "carol", rivals_of(leader, mine))
        after |= {(more, board): read(site, slug, board) for board in boards}

    for (more, board), (shown, page) in after.items():
        if more:
            score = next(name for name in ("borda_points", "mean_rank", "win_rate") if name in shown["mine"])
            scores = {name: row[score] for name, row in before[more, board].items()}
            assert scores == {name: shown[name][score] for name in scores}, board
        else:
            moved = [one for one in page["meta"]["without_owner"] if "mine" in (one["above"], one["below"])]
            assert shown["mine"]["rank"] < shown["chronos-2"]["rank"], board
            assert {one["owner"] for one in moved} == {"carol"}, board
            assert not any("alice" in note and "move" in note for note in page["notes"]), board


@pytest.mark.parametrize(("shift", "noise"), [(0.01, 0.01), (0.03, 0.05)])
def test_a_copy_of_the_leader_with_noise_is_first_beside_the_leader_s_name(
    site: Site, shift: float, noise: float
) -> None:
    """It is nearer to the leader than any honest two are to each other, and the row says how near."""
    slug = grids.declare(site, manifest(), None)
    send(site, slug, "alice", dict(real()))
    rng = np.random.default_rng(5)
    leader = real()["chronos-2"]
    send(site, slug, "bob", {"copy": leader * (1.0 - shift + noise * rng.normal(size=N_TASKS))})
    rows, _ = read(site, slug, "borda")

    assert rows["copy"]["nearest"] == "chronos-2"
    assert rows["copy"]["nearest_spread"] == pytest.approx(noise, rel=0.5)
    assert rows["chronos-2"]["nearest"] == "copy"


def test_the_best_of_rivals_task_by_task_is_shown_with_whom_it_is_made_of(site: Site) -> None:
    """The least of five public rivals with noise: it is near one of them."""
    slug = grids.declare(site, manifest(), None)
    send(site, slug, "alice", dict(real()))
    best = np.min([real()[name] for name in HONEST[:5]], axis=0)
    send(site, slug, "bob", {"made": best * (1.0 + 0.02 * np.random.default_rng(5).normal(size=N_TASKS))})
    rows, _ = read(site, slug, "mean")

    assert rows["made"]["rank"] == 1
    assert rows["made"]["nearest"] in HONEST[:5]
    assert rows["made"]["nearest_spread"] < 0.1


def test_errors_of_a_millionth_are_flagged_where_rivals_have_a_half(site: Site) -> None:
    """No error is zero, and each is far beyond those of all others."""
    slug = grids.declare(site, manifest(), None)
    send(site, slug, "alice", dict(real()))
    send(site, slug, "bob", {"tiny": np.full(N_TASKS, 1e-6) * np.linspace(1, 2, N_TASKS)})
    rows, page = read(site, slug, "mean")

    assert far_beyond(rows) == ["tiny"]
    assert page["meta"]["far_beyond"] == [{"entrant": "tiny", "metric": "error", "n_far": 40, "n_compared": 40}]
    note = "theirs is above: error of tiny in 40 of 40."
    assert any(each.endswith(note) for each in page["notes"])
    chosen = "task=t00&task=t01&task=t02&task=t03&task=t04&task=t05"
    explored = site.http.get(f"/benchmarks/{slug}/leaderboards/mean/explore.json?{chosen}").json()
    assert far_beyond({row["entrant"]: row for row in explored["rows"]}) == ["tiny"]


@pytest.mark.parametrize("value", [1e-46, 5e-324, -0.0, -0.1])
def test_whoever_comes_first_with_next_to_nothing_is_flagged_once_others_are_there(site: Site, value: float) -> None:
    """Also where no least value is declared, so that a skill score takes such a value for the best ratio."""
    slug = grids.declare(site, NO_LEAST, None)
    send(site, slug, "steward", {"seasonal_naive": real()["seasonal_naive"]})
    send(site, slug, "bob", {"tiny": np.full(N_TASKS, value)})
    alone, _ = read(site, slug, "skill")
    send(site, slug, "alice", {name: real()[name] for name in HONEST[:-1]})
    rows, _ = read(site, slug, "skill")

    assert far_beyond(alone) == []
    assert far_beyond(rows) == ["tiny"]


def test_a_decoy_of_another_token_is_flagged_beside_whom_it_hid_and_hides_nobody_once_gone(site: Site) -> None:
    """Ten of forty tasks are enough, and the decoy came before the honest ones."""
    slug = grids.declare(site, NO_LEAST, None)
    tiny = np.where(np.arange(N_TASKS) % 4, real()["chronos-2"], 1e-6)
    decoy = send(site, slug, "carol", {"decoy": tiny, "decoy too": 1.01 * tiny})
    send(site, slug, "bob", {"tiny": 1.1 * tiny})
    send(site, slug, "steward", {"seasonal_naive": real()["seasonal_naive"]})
    send(site, slug, "alice", {name: real()[name] for name in HONEST[:-1]})
    beside, _ = read(site, slug, "skill")
    address = f"/submissions/{decoy['id']}/withdraw"
    site.http.post(address, json={"reason": "seen"}, headers=site.auth("carol")).raise_for_status()
    alone, _ = read(site, slug, "skill")

    assert far_beyond(beside) == ["decoy", "decoy too", "tiny"]
    assert far_beyond(alone) == ["tiny"]


def test_what_version_0_1_flagged_on_arrival_is_asked_of_the_board_now(site: Site) -> None:
    """It compared with who had come before, which nothing corrected later."""
    slug = grids.declare(site, manifest(), None)
    sent = send(site, slug, "alice", dict(real()))
    with tampering(site.database_url) as connection:
        of_it = StoredFingerprint.submission_id == sent["id"]
        connection.execute(update(StoredFingerprint).where(of_it).values(flags=["far_beyond", "equal_run"]))
    rows, _ = read(site, slug, "mean")

    assert rows["chronos-2"]["flags"] == "equal_run"


def test_the_glossary_says_when_it_is_not_asked(site: Site) -> None:
    """Of one owner's entrants alone, and of what has no rows to compare."""
    text = " ".join(site.http.get("/glossary").text.split())

    assert "It is not asked of one owner's entrants alone, and not on boards of measured episodes" in unescape(text)


NO_LEAST = """
schema_version: 1
slug: SLUG
title: Rivals
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics: {error: {direction: minimize}}
tasks: {open: true}
leaderboards:
  - {name: skill, method: skill_score, metric: error, baseline: seasonal_naive}
"""


def far_beyond(rows: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return who has the flag, by name."""
    return sorted(name for name, row in rows.items() if "far_beyond" in str(row["flags"]).split())
