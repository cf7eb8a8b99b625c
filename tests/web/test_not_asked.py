"""Tasks that a later version of a manifest adds were not asked of who was admitted before, and are no failures."""

import pytest

from tests.fixtures import Site

MANIFEST = """
schema_version: 1
slug: grown
title: Grown
evidence: evaluation_summary
metrics: {error: {direction: minimize, min: 0}}
tasks: [TASKS]
leaderboards:
  - {name: mean, method: mean, metric: error}
  - {name: skill, method: skill_score, metric: error, baseline: new, missing: impute}
"""


def manifest(tasks: str) -> str:
    """Return the manifest with these tasks."""
    return MANIFEST.replace("TASKS", ", ".join(f"{{id: {task}}}" for task in tasks))


def submit(site: Site, entrant: str, tasks: str) -> None:
    """Send an error on each task, and publish."""
    rows = "task,error\n" + "".join(f"{task},{1 + at / 10}\n" for at, task in enumerate(tasks))
    sent = site.http.post("/benchmarks/grown/submissions", files=[("files", ("rows.csv", rows))],
                          data={"entrant": entrant}, headers=site.auth())  # fmt: skip
    assert sent.status_code == 202, sent.text
    site.work()


@pytest.mark.parametrize("board", ["mean", "skill"])
def test_what_was_not_asked_is_no_failure(site: Site, board: str) -> None:
    """Neither in the entrant's own row, which says nothing is absent, nor in the first note."""
    steward = site.auth("steward") | {"Content-Type": "application/yaml"}
    site.http.post("/benchmarks", content=manifest("abcd"), headers=steward)
    submit(site, "old", "abcd")
    site.http.put("/benchmarks/grown", content=manifest("abcdef"), headers=steward)
    submit(site, "new", "abcdef")
    shown = site.http.get(f"/benchmarks/grown/leaderboards/{board}.json").json()
    rows = {row["entrant"]: row for row in shown["rows"]}

    assert (rows["old"]["unranked_because"], rows["old"]["n_failed"]) == ("not asked", 0)
    assert {name: row["num_failures"] for name, row in rows.items()} == {"old": 0, "new": 0}
    assert shown["notes"][0] in ("2 entrants on 6 tasks; 0 failures.", "2 entrants on 6 tasks; no failures.")
