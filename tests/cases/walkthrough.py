"""A small benchmark of summaries, its uploads, and how they are sent."""

import csv
import io

from tests.fixtures import Site

MANIFEST = """\
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: [{id: t1}, {id: t2}, {id: t3}]
admission: {prereg: required}
leaderboards:
  - {name: skill, method: skill_score, metric: MASE, baseline: Base, missing: impute}
  - {name: average, method: mean, metric: MASE, missing: drop}
"""

PREREG = b"benchmark: tiny\nmetrics: [MASE]\ntasks: all\n"

BASE = b"model,task,MASE\nBase,t1,1.0\nBase,t2,2.0\nBase,t3,4.0\n"

GOOD = b"model,task,MASE\nGood,t1,0.5\nGood,t2,1.0\nGood,t3,2.0\n"

BETTER = b"model,task,MASE\nGood,t1,0.25\nGood,t2,0.5\n"


def declare(site: Site, base_of: str = "alice") -> None:
    """Make the benchmark, whose baseline is somebody's by its steward's word, and register the preregistration."""
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward")).status_code == 201
    give(site, "tiny", "Base", base_of)
    assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201


def give(site: Site, slug: str, entrant: str, to: str = "alice") -> None:
    """Have the admin give the name of a reference entrant to somebody, before there is any evidence."""
    number = site.http.get("/whoami", headers=site.auth(to)).json()["id"]
    order = {"token_id": number, "reason": "its authors"}
    address = f"/benchmarks/{slug}/entrants/{entrant}/owner"
    site.http.put(address, json=order, headers=site.auth("admin")).raise_for_status()


def send(site: Site, rows: bytes, who: str = "alice", name: str = "r.csv", **fields: str) -> dict:  # type: ignore[type-arg]
    """Submit a file and return the answer with its HTTP status."""
    answer = site.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", (name, rows)), ("prereg", ("prereg.yaml", PREREG))],
        data=fields,
        headers=site.auth(who),
    )
    return {"http": answer.status_code, **answer.json()}


def board(site: Site, name: str = "skill", **query: int) -> dict:  # type: ignore[type-arg]
    """Return a board as JSON with its rows by entrant."""
    document = site.http.get(f"/benchmarks/tiny/leaderboards/{name}.json", params=query).json()
    return {**document, "by": {row["entrant"]: row for row in document["rows"]}}


def rows_of(site: Site, board: str, slug: str = "tiny") -> list[dict[str, str]]:
    """Return the rows of a board's CSV."""
    text = site.http.get(f"/benchmarks/{slug}/leaderboards/{board}.csv").text
    return list(csv.DictReader(io.StringIO(text)))
