"""A whole server under measurement: ingest of a million rows, and from a POST to its published board."""

import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2
import psutil
import psycopg
import yaml

from app.db.embedded import running_server as embedded_server
from app.db.migrate import upgrade
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "fev-bench"
N_ROWS = 1_000_000
# What is measured is the server, not what it allows one client.
UNLIMITED = {
    "PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "1000000",
    "PLUMBLINE_MAX_READS_PER_MINUTE": "100000000",
    "PLUMBLINE_MAX_ENTRANTS_OF_SUBMITTER": "1000000",
    "PLUMBLINE_MAX_ENTRANTS": "1000000",
    "PLUMBLINE_MAX_CELLS": "1000000000",
}
OPEN_MANIFEST = """\
schema_version: 1
slug: big
title: Big
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
leaderboards: [{name: s, method: skill_score, metric: MASE, baseline: Nobody}]
"""


def headers(server: RunningServer) -> dict[str, str]:
    """Return the header by which the first admin signs in."""
    match = re.search(r"plb_[\w-]+", server.printed)
    if match is None:
        raise RuntimeError("the server printed no admin token")
    return {"Authorization": f"Bearer {match[0]}"}


@contextmanager
def big_upload(entrant: str = "m") -> Iterator[IO[bytes]]:
    """Yield a million rows of a thousand entrants, whose names begin with a text."""
    with tempfile.TemporaryFile() as file:
        lines = (f"{entrant}{i % 1000:04},t{i // 1000:05},{(i * 7919 % 10007) / 1000}\n" for i in range(N_ROWS))
        file.write(("model,task,MASE\n" + "".join(lines)).encode())
        file.seek(0)
        yield file


def submit(server: RunningServer, slug: str, name: str, content: Any) -> httpx2.Response:
    """Send one file and return the answer."""
    address = f"{server.address}/benchmarks/{slug}/submissions"
    return httpx2.post(address, files=[("files", (name, content))], headers=headers(server), timeout=300)


def settle(server: RunningServer, answer: httpx2.Response) -> None:
    """Wait until a submission is on the board, on one connection: a new one each time would take a core from it."""
    address = f"{server.address}{answer.headers['location']}.json"
    with httpx2.Client() as client:
        while client.get(address).json()["waiting_for"] is not None:
            time.sleep(0.01)


def measure_latency() -> float:
    """Return the median time from POST to the published board, 30 entrants and one board with its pairs."""
    manifest = yaml.safe_load((EXAMPLE / "manifest.yaml").read_text())
    manifest |= {"admission": {"prereg": "optional"}, "leaderboards": manifest["leaderboards"][:1]}
    files = sorted((EXAMPLE / "results").glob("*.csv"))
    taken = []
    with fresh_data_dir() as data_dir, running_server(data_dir, **UNLIMITED) as server:
        httpx2.post(f"{server.address}/benchmarks", content=yaml.safe_dump(manifest), headers=headers(server))
        for answer in [submit(server, "fev-bench", path.name, path.read_bytes()) for path in files]:
            settle(server, answer)
        for number in range(7):
            rows = files[0].read_text().replace("\nAutoARIMA,", f"\nExtra{number},").encode()
            began = time.perf_counter()
            settle(server, submit(server, "fev-bench", "extra.csv", rows))
            taken.append(time.perf_counter() - began)
    return sorted(taken)[len(taken) // 2]


def measure_copy() -> float:
    """Return the seconds that the server itself needs to COPY the same million rows, as CSV, into an unlogged copy.

    The copy has the columns of the table and neither indexes nor keys.
    """
    columns = "submission_id, position, file, row, entrant_id, task_id, leaked, values"
    with tempfile.TemporaryFile() as file, fresh_data_dir() as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        rows = (f'1,{i},0,{i + 2},{i % 1000},{i // 1000},f,"{{{(i * 7919 % 10007) / 1000}}}"\n' for i in range(N_ROWS))
        file.write("".join(rows).encode())
        file.seek(0)
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE UNLOGGED TABLE bare (LIKE score)")
            connection.commit()
            began = time.perf_counter()
            with cursor.copy(f"COPY bare ({columns}) FROM STDIN (FORMAT CSV)") as copy:
                while piece := file.read(1 << 20):
                    copy.write(piece)
            connection.commit()
            return time.perf_counter() - began


def measure_ingest() -> tuple[float, float, float]:
    """Return seconds from the POST of a million rows to its 202, those of a bare COPY, and the web's peak MiB."""
    copy_s = measure_copy()
    with big_upload() as file, fresh_data_dir() as data_dir, running_server(data_dir, **UNLIMITED) as server:
        httpx2.post(f"{server.address}/benchmarks", content=OPEN_MANIFEST, headers=headers(server))
        with Watched(server.child("web")) as peak:
            began = time.perf_counter()
            submit(server, "big", "big.csv", file).raise_for_status()
            taken = time.perf_counter() - began
        return taken, copy_s, peak.mib


def measure_export() -> tuple[float, float, float]:
    """Return the seconds in which a reader has a million rows, those of the server's COPY, and the web's peak MiB.

    COPY writes the same names and numbers. Raises RuntimeError unless every row came.
    """
    with big_upload() as file, fresh_data_dir() as data_dir, running_server(data_dir, **UNLIMITED) as server:
        httpx2.post(f"{server.address}/benchmarks", content=OPEN_MANIFEST, headers=headers(server))
        settle(server, submit(server, "big", "big.csv", file))
        with Watched(server.child("web")) as peak:
            began = time.perf_counter()
            with httpx2.stream("GET", f"{server.address}/benchmarks/big/rows.csv", timeout=120) as answer:
                n_lines = sum(piece.count(b"\n") for piece in answer.iter_raw())
            taken = time.perf_counter() - began
        if n_lines != N_ROWS + 1:
            raise RuntimeError(f"{n_lines:,} lines of {N_ROWS + 1:,} came: {answer.status_code}")
        with embedded_server(data_dir) as url:
            return taken, _copied_out(url), peak.mib


def _copied_out(url: str) -> float:
    named = """
        SELECT entrant.name, task.name, score.leaked, score.values[1]
        FROM score JOIN entrant ON entrant.id = entrant_id JOIN task ON task.id = task_id
    """
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        began = time.perf_counter()
        with cursor.copy(f"COPY ({named}) TO STDOUT (FORMAT CSV)") as copy:
            n_lines = sum(bytes(piece).count(b"\n") for piece in copy)
        if n_lines != N_ROWS:
            raise RuntimeError(f"COPY gave {n_lines:,} lines of {N_ROWS:,}")
        return time.perf_counter() - began


class Watched:
    """Samples a process's resident memory while the block runs."""

    def __init__(self, process: psutil.Process) -> None:
        self.mib = 0.0
        self._process = process
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> "Watched":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(0.02):
            self.mib = max(self.mib, self._process.memory_info().rss / 2**20)
