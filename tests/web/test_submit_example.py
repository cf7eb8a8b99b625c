"""What a benchmark's page says of an upload is true: the server takes the example that it shows."""

from pathlib import Path

import pytest

from app.kinds.parse import parse_manifest
from app.prereg.prereg import parse_prereg
from app.render.pages import submit_example
from tests.cases.predictions import PROTEIN
from tests.fixtures import Site

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


QUIZ = b"""
schema_version: 1
slug: quiz
title: Quiz
evidence: episodes
episodes: {entrant: model, task: subject, item: [question], condition: level}
metrics: {correct: {direction: maximize, min: 0, max: 1}}
tasks: [{id: algebra}]
GRID
admission: {prereg: required}
leaderboards: [{name: accuracy, method: estimate, metrics: [correct], statistic: mean}]
"""
NAMED = b"grid: {seeds: [7, 8], conditions: [easy, hard], items: [q1, q2]}"
CHOSEN = b"grid: {items: 1, registration_may_choose: {seeds: {at_least: 3}, conditions: {at_least: 2}}}"


def manifests() -> list[bytes]:
    """Return a manifest of every kind of evidence."""
    names = ("fev-bench", "chamber-as", "chamber-handover", "lrdbench")
    return [
        *((EXAMPLES / name / "manifest.yaml").read_bytes() for name in names),
        PROTEIN.encode(),
        QUIZ.replace(b"GRID", NAMED),
    ]


@pytest.mark.parametrize("manifest", manifests())
def test_the_example_row_can_be_read(site: Site, manifest: bytes) -> None:
    """Every column is there and every cell is what it must be: nothing is refused."""
    declared = parse_manifest(manifest)
    site.http.post("/benchmarks", content=manifest, headers=site.auth("steward"))
    example = submit_example(declared)
    files = [("files", (example.upload.file, example.rows.encode()))]
    named = {} if example.upload.names_entrant else {"entrant": "my-model"}

    answer = site.http.post(
        f"/benchmarks/{declared.slug}/submissions?dry_run=true", files=files, data=named, headers=site.auth()
    )

    assert (answer.status_code, answer.json().get("problems", [])) == (200, [])


def test_the_example_prereg_is_one() -> None:
    """It is of the evaluation form, of this benchmark, and leaves nothing out."""
    declared = parse_manifest(manifests()[0])
    text = submit_example(declared).prereg
    assert text is not None

    parsed = parse_prereg(text.encode())

    assert (parsed.benchmark, parsed.entrants, parsed.metrics) == ("fev-bench", ("my-model",), tuple(declared.metrics))


def test_the_page_names_every_column(site: Site) -> None:
    """A stranger need not read the manifest."""
    site.http.post("/benchmarks", content=manifests()[0], headers=site.auth("steward"))

    page = site.http.get("/benchmarks/fev-bench").text

    assert all(f"<code>{name}</code>" in page for name in ("model_name", "task_name", "SQL", "dataset_path"))
    assert "entrants: [my-model]" in page


@pytest.mark.parametrize("grid", [NAMED, CHOSEN])
def test_the_example_follows_the_grid(site: Site, grid: bytes) -> None:
    """Its registration names enough, and its row is of the grid: whoever copies them is told of no shortfall."""
    manifest = QUIZ.replace(b"GRID", grid)
    site.http.post("/benchmarks", content=manifest, headers=site.auth("steward"))
    example = submit_example(parse_manifest(manifest))
    registered = site.http.post("/preregs", content=example.prereg or "", headers=site.auth()).json()
    answer = site.http.post(
        "/benchmarks/quiz/submissions?dry_run=true",
        files=[("files", (example.upload.file, example.rows.encode()))],
        data={"prereg_sha256": registered["sha256"]},
        headers=site.auth(),
    ).json()
    of_grid = [check["outcome"] for check in answer["checks"] if check["rule"] in ("grid", "chosen_axes")]

    assert registered["warnings"] == []
    assert "failed" not in of_grid
    assert of_grid
    assert example.rows.startswith("model,seed,subject,level,question,correct")
