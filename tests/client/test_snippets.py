"""The snippets of docs/http-api.md for R and DuckDB, run as they stand where those are installed, against a server."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlretrieve

import pytest

import plumbline
from tests.cases import patient
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "http-api.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "fev-bench"
TOKEN = "a-token-of-the-snippets-that-is-long-enough-0123456789"
ADDRESS = "http://127.0.0.1:8000"


def snippet(language: str) -> str:
    """Return the one block of a language."""
    (result,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return str(result)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server with fev-bench and two of its models, of which one is the baseline."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with fresh_data_dir() as folder, running_server(folder, PLUMBLINE_ADMIN_TOKEN=TOKEN) as running:
        manifest = (EXAMPLE / "manifest.yaml").read_text().replace("prereg: required", "prereg: optional")
        created = patient.post(f"{running.address}/benchmarks", content=manifest, headers=headers)
        assert created.status_code == 201, created.text
        for name in ("naive", "seasonal_naive"):
            files = [("files", (f"{name}.csv", (EXAMPLE / "results" / f"{name}.csv").read_bytes()))]
            sent = patient.post(f"{running.address}/benchmarks/fev-bench/submissions", files=files, headers=headers)
            assert sent.status_code == 202, sent.text
        with plumbline.Client(running.address, TOKEN) as client:
            client.wait(sent.json()["id"], timeout_s=120)
        yield running


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_snippet_of_r_reads_a_board(server: RunningServer) -> None:
    """With jsonlite and without: rank, entrant and the ends of the interval."""
    asked = snippet("r").replace(ADDRESS, server.address)
    done = subprocess.run(
        ["Rscript", "-e", asked], capture_output=True, text=True, env=os.environ, timeout=120, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "skill_score_calibrated_low" in done.stdout
    assert "Seasonal Naive" in done.stdout


def test_the_snippet_of_duckdb_reads_a_board(server: RunningServer, tmp_path: Path) -> None:
    """On the file that its address serves: the extension for HTTP is fetched from outside."""
    duckdb = pytest.importorskip("duckdb")
    (address,) = re.findall(r"read_parquet\('(.*?)'\)", snippet("sql"))
    path, _ = urlretrieve(address.replace(ADDRESS, server.address), tmp_path / "sql.parquet")  # noqa: S310
    actual = duckdb.sql(snippet("sql").replace(address, str(path))).fetchall()

    assert [entrant for _, entrant, _ in actual] == ["Seasonal Naive", "Naive"]
