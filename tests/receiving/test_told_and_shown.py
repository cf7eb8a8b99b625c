"""Where whose an upload is, or what was asked of it, decides ranks, dry runs, drafts, previews and boards agree."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cases import grids
from tests.cases.grids import FEW, YAML
from tests.cases.publications import table
from tests.fixtures import Site

SPEEDS = f"""
schema_version: 1
slug: SLUG
title: Speeds
evidence: evaluation_summary
columns: {{entrant: model, task: task}}
tasks: TASKS
metrics: {{latency: {{direction: minimize, min: 0, max: 100}}}}
admission: {{prereg: optional}}
leaderboards:
  - {{name: speed, method: mean, metric: latency, uncertainty: {FEW}}}
"""
TWO, THREE = "[{id: t1}, {id: t2}]", "[{id: t1}, {id: t2}, {id: t3}]"
RELATIVE = f"  - {{name: skill, method: skill_score, metric: latency, baseline: base, uncertainty: {FEW}}}\n"
CHOICE = "grid: {items: 20, registration_may_choose: {seeds: {at_least: 2}}}"
TOLD = ("rank", "rank_low", "rank_high", "may_be_first", "unranked_because")

Sent = tuple[str, list[Any], bytes | None]
"""Who sends, which rows, and the registration that is cited."""


def chosen_seeds(site: Site) -> tuple[str, Iterator[Sent]]:
    """Each registers seeds of its own."""
    manifest = grids.EPISODES.replace("GRID", CHOICE).replace("prereg: optional", "prereg: required")
    slug = grids.declare(site, manifest)

    def sent() -> Iterator[Sent]:
        for name, seeds in (("good", (0, 1)), ("fair", (2, 3)), ("poor", (4, 5))):
            prereg = grids.register(site, slug, name, seeds=", ".join(map(str, seeds)))
            yield "bob", grids.rows(name, name, seeds=seeds), prereg

    return slug, sent()


def two_versions(site: Site) -> tuple[str, Iterator[Sent]]:
    """A task comes later: of yesterday's files, of who sends all of it again, and of a new name."""
    points = (
        RELATIVE.replace("skill_score", "borda").replace("name: skill", "name: points").replace("baseline: base, ", "")
    )
    slug = grids.declare(site, SPEEDS.replace("TASKS", TWO) + points)

    def sent() -> Iterator[Sent]:
        for at, name in enumerate(("a", "b", "c")):
            yield "alice", speeds(name, ("t1", "t2"), 5.0 + at), None
        content = (SPEEDS.replace("TASKS", THREE) + points).replace("SLUG", slug)
        assert site.http.put(f"/benchmarks/{slug}", content=content, headers=site.auth("steward") | YAML).is_success
        yield "alice", speeds("b", ("t1", "t2", "t3"), 4.0), None
        yield "alice", speeds("d", ("t1", "t2"), 3.0), None
        yield "bob", speeds("e", ("t1", "t2", "t3"), 2.0), None

    return slug, sent()


def open_tasks(site: Site) -> tuple[str, Iterator[Sent]]:
    """Two owners of one entrant each, then a second one of the first, on tasks of its own."""
    slug = grids.declare(site, SPEEDS.replace("TASKS", "{open: true}") + RELATIVE)

    def sent() -> Iterator[Sent]:
        tasks = [f"x{at}" for at in range(6)]
        yield "steward", speeds("base", tasks, 5.0), None
        yield "bob", speeds("mine", tasks, 4.0), None
        yield "bob", speeds("late", [f"y{at}" for at in range(7)], 3.0), None
        yield "steward", speeds("more", [*tasks, "y0"], 2.0), None

    return slug, sent()


def speeds(model: str, tasks: Any, latency: float) -> list[Any]:
    """Return rows of one model, a little apart by task."""
    return [(model, task, latency + at / 10) for at, task in enumerate(tasks)]


def send(site: Site, slug: str, sent: Sent, **query: str) -> dict[str, Any]:
    """Send rows, or have them checked, and return the answer."""
    who, rows, prereg = sent
    header = grids.COLUMNS if len(rows[0]) == len(grids.COLUMNS) else ("model", "task", "latency")
    files: list[Any] = [("files", ("r.csv", table(header, rows)))]
    files += [] if prereg is None else [("prereg", ("p.yaml", prereg))]
    address = f"/benchmarks/{slug}/submissions"
    answer = site.http.post(address, params=query, files=files, headers=site.auth(who))
    assert answer.is_success, answer.text
    result: dict[str, Any] = answer.json()
    return result


def boards(site: Site, slug: str, path: str = "leaderboards") -> dict[str, dict[str, Any]]:
    """Return the rows of every board by entrant, in the order of the manifest."""
    names = [board["name"] for board in site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"]]
    shown = {name: site.http.get(f"/benchmarks/{slug}/{path}/{name}.json", headers=site.auth("steward")).json()
             for name in names}  # fmt: skip
    return {name: {row["entrant"]: {told: row.get(told) for told in TOLD} for row in board["rows"]}
            for name, board in shown.items()}  # fmt: skip


@pytest.mark.parametrize("world", [chosen_seeds, two_versions, open_tasks])
def test_what_is_told_is_what_is_shown(shared_site: Site, world: Callable[[Site], tuple[str, Iterator[Sent]]]) -> None:
    """Ranks, rank intervals, who may be first, why somebody has no rank, and who is not listed at all."""
    slug, uploads = world(shared_site)
    for sent in uploads:
        shared_site.work()
        told = send(shared_site, slug, sent, dry_run="true")["impact"]
        send(shared_site, slug, sent)
        shared_site.work()
        shown, name = boards(shared_site, slug), sent[1][0][0]

        assert {
            board["board"]: {each.pop("entrant"): each for each in board["entrants"]} for board in told["boards"]
        } == {board: {name: rows[name]} if name in rows else {} for board, rows in shown.items()}


@pytest.mark.parametrize("world", [two_versions, open_tasks])
def test_the_draft_and_the_preview_of_the_same_rules_are_the_boards(
    shared_site: Site, world: Callable[[Site], tuple[str, Iterator[Sent]]]
) -> None:
    """Whose each entrant is decides on open tasks, and whom a board sets aside is set aside on its draft, too."""
    slug, uploads = world(shared_site)
    for sent in uploads:
        send(shared_site, slug, sent)
        shared_site.work()
    shown, steward = boards(shared_site, slug), shared_site.auth("steward")
    yaml = shared_site.http.get(f"/benchmarks/{slug}.yaml").text.replace("title: Speeds", "title: Speeds, again")
    preview = shared_site.http.post(f"/desk/{slug}/manifest", data={"manifest": yaml}, headers=steward)
    assert shared_site.http.put(f"/benchmarks/{slug}/draft", content=yaml, headers=steward | YAML).is_success

    assert boards(shared_site, slug, "draft") == shown
    assert preview.text.count("No rank would change.") == len(shown)
