"""Making a benchmark over HTTP by its manifest."""

from tests.cases.predictions import yaml
from tests.fixtures import Site


def create(site: Site, manifest: str | None = None) -> None:
    """Make the benchmark."""
    answer = site.http.post("/benchmarks", content=manifest or yaml(), headers=site.auth("steward"))
    assert answer.status_code == 201, answer.text
