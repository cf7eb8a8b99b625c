"""YDF's cases as benchmarks and submissions over HTTP."""

import csv
import io
from collections.abc import Sequence

from tests.fixtures import Site

LEVEL = 0.95

DIRECTIONS = {"logloss": "minimize", "brier": "minimize", "rmse": "minimize", "mae": "minimize", "fpr": "minimize"}


def manifest(part: str, metrics: Sequence[str], more: str = "", slug: str = "guess") -> str:
    """Return a benchmark with one board of the metrics, whose labels are no secret where the part does not say."""
    part = part if "labels:" in part else f"{part}, labels: public"
    declared = "\n".join(f"  {m}: {{direction: {DIRECTIONS.get(m.split('@')[0], 'maximize')}}}" for m in metrics)
    return f"""
schema_version: 1
slug: {slug}
title: Guess
evidence: predictions
metrics:
{declared}
tasks: [{{id: t}}]
predictions: {{{part}}}
leaderboards:
  - name: board
    method: estimate
    metrics: [{", ".join(metrics)}]
    uncertainty: {{n_resamples: 2000, level: {LEVEL}, rng_seed: 1234}}{more}
"""


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue()


def begin(site: Site, document: str, labels: str) -> None:
    """Make the benchmark and put its labels."""
    created = site.http.post("/benchmarks", content=document, headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    address = f"/benchmarks/{created.json()['slug']}/labels"
    put = site.http.put(address, files={"file": ("labels.csv", labels)}, headers=site.auth("steward"))
    assert put.status_code == 201, put.text


def submit(site: Site, entrant: str, predictions: str, slug: str = "guess") -> int:
    """Submit predictions and return the submission's number."""
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions",
        files=[("files", (f"{entrant}.csv", predictions))],
        data={"entrant": entrant},
        headers=site.auth(),
    )
    assert answer.status_code == 202, answer.text
    return int(answer.json()["id"])


def records(site: Site, path: str) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    answer = site.http.get(path)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))
