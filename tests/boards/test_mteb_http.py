"""The MTEB example from POST to page and CSV."""

import csv
import io
from pathlib import Path

from tests.fixtures import Site

EXAMPLE = Path(__file__).parents[2] / "examples" / "mteb-eng-v2"


def test_mteb_is_loaded_as_make_run_does(roomy_site: Site) -> None:
    """One file of 10,041 rows makes every board; each is a page, a CSV and JSON."""
    http = roomy_site.http
    created = http.post(
        "/benchmarks", content=(EXAMPLE / "manifest.yaml").read_bytes(), headers=roomy_site.auth("steward")
    )
    rows = (EXAMPLE / "results" / "eng_v2.csv").read_bytes()
    sent = http.post("/benchmarks/mteb-eng-v2/submissions", files=[("files", ("eng_v2.csv", rows))],
                     headers=roomy_site.auth())  # fmt: skip
    roomy_site.work()
    boards = {name: http.get(f"/benchmarks/mteb-eng-v2/leaderboards/{name}.csv").text
              for name in ("borda", "mean-task-type", "win-rate", "mean-rank")}  # fmt: skip

    assert (created.status_code, sent.status_code) == (201, 202)
    assert [len(list(csv.DictReader(io.StringIO(text)))) for text in boards.values()] == [324] * 4
    assert http.get("/benchmarks/mteb-eng-v2/leaderboards/borda").status_code == 200
    assert http.get("/benchmarks/mteb-eng-v2/entrants/Qwen/Qwen3-Embedding-8B").status_code == 200
