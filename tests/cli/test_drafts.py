"""`plumbline benchmark init` and `preview` as they are run: a real process, and the pages that it serves."""

import re
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from app.cli.drafts import PreviewSite, compute_boards, make_server
from app.kinds.parse import parse_manifest
from tests.cases.drafts import latency_table
from tests.cases.offline import plumbline

pytestmark = pytest.mark.heavy


def test_init_writes_a_manifest_and_says_what_comes_next(tmp_path: Path) -> None:
    """Without a server, and without a database."""
    (tmp_path / "latency.csv").write_text(latency_table())
    done = plumbline("benchmark", "init", "latency.csv", folder=tmp_path)

    assert (done.returncode, done.stdout) == (0, "Wrote manifest.yaml.\n")
    assert "plumbline submit latency latency.csv" in done.stderr
    assert parse_manifest((tmp_path / "manifest.yaml").read_bytes()).slug == "latency"


def test_init_writes_over_no_file_unless_it_is_told_to(tmp_path: Path) -> None:
    """A manifest that somebody wrote is not lost."""
    (tmp_path / "latency.csv").write_text(latency_table())
    (tmp_path / "manifest.yaml").write_text("mine")
    done = plumbline("benchmark", "init", "latency.csv", folder=tmp_path)

    assert done.returncode == 2
    assert (tmp_path / "manifest.yaml").read_text() == "mine"


def test_a_preview_serves_the_boards_that_a_server_would_publish(tmp_path: Path) -> None:
    """Page, CSV and JSON of each table, and the style sheet that the page names."""
    (tmp_path / "latency.csv").write_text(latency_table())
    plumbline("benchmark", "init", "latency.csv", folder=tmp_path)
    tables = compute_boards(tmp_path / "manifest.yaml", [tmp_path / "latency.csv"], None)
    site = PreviewSite(parse_manifest((tmp_path / "manifest.yaml").read_bytes()), tables)
    with make_server(site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        page, rows = (urlopen(f"{address}{site.home}{end}").read().decode() for end in ("", ".csv"))  # noqa: S310
        server.shutdown()

    actual = {place: site.answer(place)[0] for place in re.findall(r'(?:href|src)="(/[^"#]*)', page)}

    assert "duckdb" in page
    assert {place: status for place, status in actual.items() if status != 200} == {}
    assert "Preview of latency" in page
    assert [line.split(",")[:2] for line in rows.splitlines()[1:]] == [
        ["1", "duckdb"],
        ["2", "postgres"],
        ["3", "sqlite"],
    ]


def test_check_names_every_answer_that_is_missing(tmp_path: Path) -> None:
    """What `init` left open, by line."""
    (tmp_path / "odd.csv").write_text("model,task,zeta\na,t,1.5\nb,t,2.5\n")
    plumbline("benchmark", "init", "odd.csv", folder=tmp_path)
    done = plumbline("benchmark", "check", "manifest.yaml", folder=tmp_path)

    assert done.returncode == 2
    assert "metrics.zeta.direction" in done.stderr
    assert "an answer is missing here" in done.stderr


def test_check_refuses_what_a_server_refuses_of_a_new_version(tmp_path: Path) -> None:
    """A claim that decides nothing, which a stored version may have."""
    (tmp_path / "latency.csv").write_text(latency_table())
    plumbline("benchmark", "init", "latency.csv", folder=tmp_path)
    with (tmp_path / "manifest.yaml").open("a") as manifest:
        manifest.write("claims: {c: {contrast: [duckdb, duckdb], metric: latency_ms, threshold: 0}}\n")
    done = plumbline("benchmark", "check", "manifest.yaml", folder=tmp_path)

    assert done.returncode == 2
    assert "it compares one with itself" in done.stderr


def test_check_says_what_a_good_manifest_comes_to(tmp_path: Path) -> None:
    """And, with results, how many rows it reads."""
    (tmp_path / "latency.csv").write_text(latency_table())
    plumbline("benchmark", "init", "latency.csv", folder=tmp_path)
    done = plumbline("benchmark", "check", "manifest.yaml", "--results", "latency.csv", folder=tmp_path)

    assert done.returncode == 0
    assert "Metric latency_ms: minimize, from 0 to …." in done.stdout
    assert "120 rows of 3 entrants" in done.stdout
