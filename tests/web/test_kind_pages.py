"""The page of a benchmark says what its kind of evidence asks for, and nothing of what another kind does."""

from pathlib import Path

import pytest

from tests.cases.html_pages import in_one_line
from tests.fixtures import Site

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAID = {
    "fev-bench": ("A row per entrant and task; other columns are ignored",),
    "chamber-as": (
        "A row per episode",
        'intervals resample <a href="/glossary#cluster">seeds, then episodes</a>, never all',
        "the policy is strict.",
        "-F entrant=NAME",
        "Or a result bundle of CHAMBER as a zip, or JSON Lines.",
        "The rows name no entrant",
    ),
    "lrdbench-observational": (
        "A row per series and metric",
        "Observational: stability and sensitivity may be claimed",
        "Or a whole run of lrdbench, its folder as a zip.",
    ),
    "breast-cancer": (
        "A row per item",
        "Predictions are scored against labels that the server keeps; no address gives them back.",
        "-F entrant=NAME",
    ),
}
EVERYTHING = frozenset(sentence for sentences in SAID.values() for sentence in sentences)


@pytest.mark.parametrize("name", SAID)
def test_a_page_says_what_its_kind_asks_for(site: Site, name: str) -> None:
    """Of all that the four kinds say, exactly what its own one says."""
    manifest = (EXAMPLES / name / "manifest.yaml").read_bytes()
    created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward"))

    page = in_one_line(site.http.get(created.headers["location"]).text)

    assert {sentence for sentence in EVERYTHING if sentence in page} == set(SAID[name])


def test_links_to_tables_come_with_the_first_publication(site: Site) -> None:
    """Before that they would lead nowhere."""
    manifest = (EXAMPLES / "lrdbench-observational" / "manifest.yaml").read_bytes()
    address = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).headers["location"]

    assert f"{address}/tables/failures" not in site.http.get(address).text

    site.work()

    assert f'<a href="{address}/tables/failures">Failures</a>' in site.http.get(address).text
