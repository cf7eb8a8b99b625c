"""What tests of the grid share: benchmarks that declare one, honest entrants, and rows with some left out."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.cases.publications import table
from tests.fixtures import Site

SLUGS = itertools.count()
YAML = {"Content-Type": "application/yaml"}
TASKS, ITEMS = ("arithmetic", "code"), tuple(f"q{at:02}" for at in range(20))
FEW = "{n_resamples: 100, rng_seed: 1}"
COLUMNS = ("entrant", "task", "seed", "item", "score")

EPISODES = f"""
schema_version: 1
slug: SLUG
title: Small
evidence: episodes
episodes: {{condition: null, item: [item], task: task}}
tasks: [{{id: arithmetic}}, {{id: code}}]
GRID
metrics: {{score: {{direction: maximize, min: 0, max: 1}}}}
admission: {{prereg: optional}}
leaderboards:
  - {{name: board, method: estimate, metrics: [score], statistic: mean, uncertainty: {FEW}}}
"""
GRID = "grid: {seeds: [0, 1], items: file}"
COUNTED = "grid: {seeds: 2, items: 20}"

PREREG = """
benchmark: SLUG
entrants: [ENTRANT]
metrics: [score]
run_purpose: leaderboard
bootstrap_method: cluster
seeds: [SEEDS]
MORE
"""


def right(entrant: str, item: str) -> int:
    """Return whether an entrant answers an item: `good` three of four, `fair` two, `poor` one, the easiest first."""
    share = {"good": 15, "fair": 10, "poor": 5}[entrant]
    return int(ITEMS.index(item) < share)


def rows(entrant: str, like: str = "poor", tasks: Sequence[str] = TASKS, seeds: Sequence[int] = (0, 1)) -> list[Any]:
    """Return every row of an entrant who answers as one of the three does."""
    cells = itertools.product(tasks, seeds, ITEMS)
    return [(entrant, task, seed, item, right(like, item)) for task, seed, item in cells]


def only_right(entrant: str) -> list[Any]:
    """Return the rows of the poor one without its wrong answers."""
    return [row for row in rows(entrant) if row[-1]]


def declare(site: Site, manifest: str, items: Iterable[str] | None = ITEMS) -> str:
    """Make a benchmark of a name of its own, with the items of its grid, and return the name."""
    slug = f"grid-{next(SLUGS)}"
    created = site.http.post("/benchmarks", content=manifest.replace("SLUG", slug), headers=site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    if items is not None and "items: file" in manifest:
        answer = put_items(site, slug, items)
        assert answer.status_code == 201, answer.text
    return slug


def put_items(site: Site, slug: str, items: Iterable[str], who: str = "steward") -> Any:
    """Put the items of a grid and return the answer."""
    content = table(("item",), [[item] for item in items])
    return site.http.put(f"/benchmarks/{slug}/items", files={"file": ("items.csv", content)}, headers=site.auth(who))


def register(site: Site, slug: str, entrant: str, more: str = "", seeds: str = "0, 1", who: str = "bob") -> bytes:
    """Register what an entrant will run, and return the bytes."""
    text = PREREG.replace("SLUG", slug).replace("ENTRANT", entrant).replace("SEEDS", seeds).replace("MORE", more)
    headers = site.auth(who) | YAML
    answer = site.http.post(f"/preregs?benchmark={slug}", content=text, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return text.encode()


def send(site: Site, slug: str, result: Iterable[Any], who: str = "alice", prereg: bytes | None = None) -> Any:
    """Send rows as one submission, with the registration that it cites, and return the answer."""
    files: list[Any] = [("files", (f"{next(SLUGS)}.csv", table(COLUMNS, result)))]
    files += [] if prereg is None else [("prereg", ("prereg.yaml", prereg))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))
    assert answer.status_code == 202, answer.text
    return answer.json()


def board(site: Site, slug: str, name: str = "board") -> Mapping[str, Any]:
    """Do what is to be done and return a board as it is published."""
    site.work()
    shown: dict[str, Any] = site.http.get(f"/benchmarks/{slug}/leaderboards/{name}.json").json()
    return shown


def by_entrant(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of a board by entrant."""
    return {row["entrant"]: row for row in shown["rows"]}


def honest(site: Site, slug: str) -> None:
    """Send the good and the fair entrant, whole."""
    send(site, slug, [*rows("good", "good"), *rows("fair", "fair")])
