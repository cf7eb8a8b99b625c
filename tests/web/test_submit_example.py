"""What a benchmark's page says of an upload is true: the server takes the example that it shows."""

from pathlib import Path

import pytest

from app.kinds.parse import parse_manifest
from app.prereg.prereg import parse_prereg
from app.render.submit_example import submit_example
from tests.cases.predictions import PROTEIN
from tests.fixtures import Site

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def manifests() -> list[bytes]:
    """Return a manifest of every kind of evidence."""
    names = ("fev-bench", "chamber-as", "chamber-handover", "lrdbench")
    return [*((EXAMPLES / name / "manifest.yaml").read_bytes() for name in names), PROTEIN.encode()]


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
