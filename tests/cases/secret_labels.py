"""Benchmarks whose labels are a secret, over HTTP: made, submitted to and asked by whoever attacks them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.cases.ydf_http import records, table
from tests.fixtures import Site

SLUG = "secret"
BINARY = "kind: classification, classes: ['no', 'yes']"
DIRECTIONS = {"logloss": "minimize", "brier": "minimize", "rmse": "minimize", "mae": "minimize"}


def manifest(scoring: str | None = None, metrics: Sequence[str] = ("accuracy",), part: str = BINARY) -> str:
    """Return a benchmark of private labels; without `scoring` the defaults hold."""
    declared = ", ".join(f"{m}: {{direction: {DIRECTIONS.get(m, 'maximize')}}}" for m in metrics)
    stated = "" if scoring is None else f"scoring: {{{scoring}}}\n"
    return f"""
schema_version: 1
slug: {SLUG}
title: Secret
evidence: predictions
metrics: {{{declared}}}
tasks: [{{id: t}}]
predictions: {{{part}, labels: private}}
{stated}leaderboards:
  - {{name: board, method: estimate, metrics: [{", ".join(metrics)}], uncertainty: {{n_resamples: 100}}}}
"""


def items(n_items: int) -> list[str]:
    """Return names of items that say nothing."""
    return [f"i{at:04}" for at in range(n_items)]


def begin(site: Site, document: str, labels: Sequence[object]) -> Any:
    """Make the benchmark, put its labels and return the answer."""
    created = site.http.post("/benchmarks", content=document, headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    return put_labels(site, labels)


def put_labels(site: Site, labels: Sequence[object]) -> Any:
    """Put the labels of the benchmark and return the answer."""
    content = table(["item", "label"], list(zip(items(len(labels)), labels, strict=True)))
    put = site.http.put(
        f"/benchmarks/{SLUG}/labels", files={"file": ("labels.csv", content)}, headers=site.auth("steward")
    )
    assert put.status_code == 201, put.text
    return put.json()


def truth(n_items: int, seed: int = 3) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return labels of two classes, a third of them positive."""
    return np.random.default_rng(seed).permutation(np.arange(n_items) % 3 == 0)


def words(labels: Sequence[bool]) -> list[str]:
    """Return two classes by name."""
    return ["yes" if label else "no" for label in labels]


def knowing(labels: Any, share: float, seed: int = 5) -> list[float]:
    """Return predictions that are right for about a share of the items."""
    rng = np.random.default_rng(seed)
    right = rng.random(len(labels)) < share
    return [float(p) for p in np.where(right, labels, ~np.asarray(labels)).astype(float) * 0.8 + 0.1]


def send(site: Site, predicted: Sequence[float], entrant: str = "A", who: str = "alice", **more: Any) -> Any:
    """Submit one entrant and return the answer."""
    content = table(["item", "prediction"], list(zip(items(len(predicted)), predicted, strict=True)))
    return site.http.post(
        f"/benchmarks/{SLUG}/submissions{more.pop('query', '')}",
        files=[("files", (f"{entrant}.csv", content)), *more.pop("files", ())],
        data={"entrant": entrant, **more},
        headers=site.auth(who),
    )


def board(site: Site) -> dict[str, dict[str, str]]:
    """Return the rows of the board by entrant, as they are now."""
    rows = records(site, f"/benchmarks/{SLUG}/leaderboards/board.csv")
    return {row["entrant"]: row for row in rows}


def checks(site: Site, number: int) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each check of a submission."""
    result = site.http.get(f"/submissions/{number}.json").json()["checks"]
    return {check["rule"]: (check["outcome"], check["reason"]) for check in result}
