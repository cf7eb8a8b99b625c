"""Predictions that leave out what is hard end without a rank or behind, over HTTP, against the benchmark's labels."""

import itertools
from collections.abc import Sequence
from typing import Any

from tests.cases import grids
from tests.cases.publications import table
from tests.fixtures import Site

CLASSES = ("red", "green", "blue")
NUMBERS = itertools.count()
MANIFEST = """
schema_version: 1
slug: SLUG
title: Colours
evidence: predictions
metrics: {precision_macro: {direction: maximize, min: 0, max: 1}, accuracy: {direction: maximize, min: 0, max: 1}}
tasks: [{id: easy}, {id: hard}]
admission: {prereg: optional}
predictions: {kind: classification, classes: [red, green, blue], missing: failure, label_holders: ranked}
leaderboards:
  - {name: board, method: estimate, metrics: [precision_macro, accuracy], uncertainty: {n_resamples: 100, rng_seed: 1}}
"""
PREREG = """
benchmark: SLUG
entrants: [sly]
metrics: [precision_macro]
run_purpose: leaderboard
bootstrap_method: cluster
tasks: [easy]
"""
N_ITEMS = 60
"""Of each task; one in three is blue, which is the hard class."""


def truth(at: int) -> str:
    """Return the class of an item."""
    return CLASSES[at % 3]


def predicted(entrant: str, called: Sequence[str | None], tasks: Sequence[str] = ("easy", "hard")) -> str:
    """Return predictions of the items of some tasks; None is an item without one."""
    rows = [
        (entrant, task, f"{task}{at}", *(0.8 if name == call else 0.1 for name in CLASSES))
        for task in tasks
        for at, call in enumerate(called)
        if call is not None
    ]
    return table(("entrant", "task", "item", *(f"p_{name}" for name in CLASSES)), rows)


def begin(site: Site) -> str:
    """Make the benchmark with its labels, and two honest entrants who are wrong on some items of every class."""
    slug = f"colours-{next(NUMBERS)}"
    created = site.http.post("/benchmarks", content=MANIFEST.replace("SLUG", slug), headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    rows = [(task, f"{task}{at}", truth(at)) for task in ("easy", "hard") for at in range(N_ITEMS)]
    files = {"file": ("labels.csv", table(("task", "item", "label"), rows))}
    put = site.http.put(f"/benchmarks/{slug}/labels", files=files, headers=site.auth("steward"))
    assert put.status_code == 201, put.text
    for who, name, wrong in (("alice", "good", 10), ("steward", "fair", 4)):
        send(site, slug, predicted(name, [truth(at if at % wrong else at + 1) for at in range(N_ITEMS)]), who)
    return slug


def send(site: Site, slug: str, content: str, who: str = "alice", prereg: bytes | None = None) -> Any:
    """Send predictions and return the answer."""
    files: list[Any] = [("files", ("p.csv", content))]
    files += [] if prereg is None else [("prereg", ("prereg.yaml", prereg))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))
    assert answer.status_code == 202, answer.text
    return answer.json()


def ranked(site: Site, slug: str) -> dict[str, Any]:
    """Return the board by entrant."""
    return grids.by_entrant(grids.board(site, slug))


def test_a_class_that_is_never_called_counts_as_zero(roomy_site: Site) -> None:
    """Red and green without a mistake and blue never called: two thirds at most, and the last rank."""
    slug = begin(roomy_site)
    send(roomy_site, slug, predicted("sly", [truth(at) if at % 3 < 2 else CLASSES[at % 2] for at in range(N_ITEMS)]),
         "bob")  # fmt: skip
    shown = ranked(roomy_site, slug)

    assert (shown["good"]["rank"], shown["fair"]["rank"], shown["sly"]["rank"]) == (1, 2, 3)
    assert shown["sly"]["precision_macro"] < 0.5


def test_only_easy_items_have_no_rank(roomy_site: Site) -> None:
    """Every item that is predicted is right, and two of three are not: shown apart with n of N."""
    slug = begin(roomy_site)
    send(roomy_site, slug, predicted("sly", [truth(at) if at % 3 == 0 else None for at in range(N_ITEMS)]), "bob")
    shown = ranked(roomy_site, slug)

    assert (shown["sly"]["rank"], shown["sly"]["unranked_because"]) == (None, "partial")
    assert shown["sly"]["n_included"] < shown["sly"]["n_attempted"] == shown["good"]["n_attempted"]
    assert shown["good"]["rank"] == 1


def test_a_registration_of_the_easy_task_alone_does_not_shrink_the_grid(roomy_site: Site) -> None:
    """All of the easy task, registered before the run and all right: half of the labels, and no rank."""
    slug = begin(roomy_site)
    prereg = PREREG.replace("SLUG", slug).encode()
    roomy_site.http.post(f"/preregs?benchmark={slug}", content=prereg, headers=roomy_site.auth("bob") | grids.YAML)
    send(roomy_site, slug, predicted("sly", [truth(at) for at in range(N_ITEMS)], ["easy"]), "bob", prereg)
    shown = ranked(roomy_site, slug)

    assert shown.get("sly", {"rank": None})["rank"] is None
    assert (shown["good"]["rank"], shown["fair"]["rank"]) == (1, 2)
