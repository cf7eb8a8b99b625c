"""What one more model beside MTEB's 324 on 41 tasks leaves behind: bytes of database and of its log.

`python -m bench.kept [N]` sends N models of 41 rows (25), one publication each, and prints by table what they took.
"""

import sys
import time

import httpx2
import psycopg

from app.db.embedded import running_addresses
from bench.one_more import COMPLETE, EXAMPLE, SLUG, _shifted
from bench.server import UNLIMITED, headers, settle, submit
from tests.cases.running_server import fresh_data_dir, running_server

SIZES = """
    SELECT relname, pg_total_relation_size(relid) FROM pg_statio_user_tables
    UNION ALL SELECT 'database', pg_database_size(current_database())
    UNION ALL SELECT 'log', pg_current_wal_lsn() - '0/0'::pg_lsn
"""

NAMED = 8


def measure_kept(n_models: int = 25) -> None:
    """Print the bytes of each submission and publication, and of the tables that hold most of them."""
    rows = (EXAMPLE / "results" / "eng_v2.csv").read_text("utf-8").splitlines()
    own = [line.split(",", 1)[1] for line in rows if line.startswith(f"{COMPLETE},")]
    with fresh_data_dir() as folder, running_server(folder, **UNLIMITED) as server, running_addresses(folder) as url:
        created = (EXAMPLE / "manifest.yaml").read_bytes()
        httpx2.post(f"{server.address}/benchmarks", content=created, headers=headers(server)).raise_for_status()
        settle(server, submit(server, SLUG, "eng_v2.csv", "\n".join(rows).encode()))
        with psycopg.connect(url.owner, autocommit=True) as connection:
            before, taken = _sizes(connection), []
            for number in range(n_models):
                shifted = [_shifted(line, 0.001 * (number + 1)) for line in own]
                content = "\n".join([rows[0], *(f"new/model-{number},{line}" for line in shifted)]).encode()
                began = time.perf_counter()
                answer = submit(server, SLUG, "one.csv", content)
                answer.raise_for_status()
                settle(server, answer)
                taken.append(time.perf_counter() - began)
            after = _sizes(connection)
    print(f"{n_models} models of 41 rows on 324 x 41, median {sorted(taken)[n_models // 2]:.3f} s to the board; "
          "bytes of each:")  # fmt: skip
    grown = {name: (size - before.get(name, 0)) / n_models for name, size in after.items()}
    for name in sorted(grown, key=lambda name: -grown[name])[:NAMED]:
        print(f"  {name}: {grown[name]:,.0f}")


def _sizes(connection: "psycopg.Connection[tuple[str, int]]") -> dict[str, int]:
    connection.execute("CHECKPOINT")
    return {str(name): int(size) for name, size in connection.execute(SIZES).fetchall()}


if __name__ == "__main__":
    measure_kept(*map(int, sys.argv[1:]))
