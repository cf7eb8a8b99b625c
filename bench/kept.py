"""What a submission to MTEB's 324 models on 41 tasks leaves behind: bytes of database and of its log.

`python -m bench.kept [N]` sends N submissions of 41 rows (25), five new models in turn, one publication each, and
prints by table what they took and how long the first, the middle and the last were to the board. What the data
addresses of those three snapshots answered when they were published is what they answer at the end, or the bench fails.
"""

import hashlib
import sys
import time

import httpx2
import psycopg

from app.db.embedded import running_addresses
from bench.one_more import BOARDS, COMPLETE, EXAMPLE, SLUG, _shifted
from bench.server import UNLIMITED, headers, settle, submit
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

SIZES = """
    SELECT relname, pg_total_relation_size(relid) FROM pg_statio_user_tables
    UNION ALL SELECT 'database', pg_database_size(current_database())
    UNION ALL SELECT 'log', pg_current_wal_lsn() - '0/0'::pg_lsn
"""

NAMED, IN_TURN = 8, 5


def measure_kept(n_submissions: int = 25) -> None:
    """Print the bytes of each submission and publication, and of the tables that hold most of them."""
    rows = (EXAMPLE / "results" / "eng_v2.csv").read_text("utf-8").splitlines()
    own = [line.split(",", 1)[1] for line in rows if line.startswith(f"{COMPLETE},")]
    looked_at = (0, n_submissions // 2, n_submissions - 1)
    with fresh_data_dir() as folder, running_server(folder, **UNLIMITED) as server, running_addresses(folder) as url:
        created = (EXAMPLE / "manifest.yaml").read_bytes()
        httpx2.post(f"{server.address}/benchmarks", content=created, headers=headers(server)).raise_for_status()
        settle(server, submit(server, SLUG, "eng_v2.csv", "\n".join(rows).encode()))
        with psycopg.connect(url.owner, autocommit=True) as connection:
            before, taken, answered = _sizes(connection), list[float](), dict[int, dict[str, str]]()
            for number in range(n_submissions):
                shifted = [_shifted(line, 0.0001 * (number + 1)) for line in own]
                name = f"new/model-{number % IN_TURN}"
                content = "\n".join([rows[0], *(f"{name},{line}" for line in shifted)]).encode()
                began = time.perf_counter()
                answer = submit(server, SLUG, "one.csv", content)
                answer.raise_for_status()
                settle(server, answer)
                taken.append(time.perf_counter() - began)
                if number in looked_at:
                    newest = _newest(connection)
                    answered[newest] = _answers(server, newest)
            after = _sizes(connection)
        for snapshot, expected in answered.items():
            if _answers(server, snapshot) != expected:
                raise RuntimeError(f"snapshot {snapshot} answers other bytes than when it was published")
    seconds = ", ".join(f"{taken[number]:.3f} s at {number + 1}" for number in looked_at)
    print(f"{n_submissions} submissions of 41 rows on 324 x 41, to the board {seconds} "
          f"(median {sorted(taken)[n_submissions // 2]:.3f} s); bytes of each:")  # fmt: skip
    grown = {name: (size - before.get(name, 0)) / n_submissions for name, size in after.items()}
    for name in sorted(grown, key=lambda name: -grown[name])[:NAMED]:
        print(f"  {name}: {grown[name]:,.0f}")
    n_addresses = sum(map(len, answered.values()))
    print(f"  {n_addresses} data addresses of snapshots {', '.join(map(str, answered))} answer their first bytes")


def _sizes(connection: "psycopg.Connection[tuple[str, int]]") -> dict[str, int]:
    connection.execute("CHECKPOINT")
    return {str(name): int(size) for name, size in connection.execute(SIZES).fetchall()}


def _newest(connection: "psycopg.Connection[tuple[str, int]]") -> int:
    (newest,) = connection.execute("SELECT max(number) FROM snapshot").fetchall()
    return int(newest[0])


def _answers(server: RunningServer, snapshot: int) -> dict[str, str]:
    """Return the digest of each board and of its pairs, as each kind of file."""
    digests = {}
    for board in BOARDS:
        for place in (board, f"{board}/pairwise"):
            for kind in ("csv", "json", "parquet"):
                address = f"/benchmarks/{SLUG}/leaderboards/{place}.{kind}?snapshot={snapshot}"
                answer = httpx2.get(server.address + address, timeout=120)
                answer.raise_for_status()
                digests[address] = hashlib.sha256(answer.content).hexdigest()
    return digests


if __name__ == "__main__":
    measure_kept(*map(int, sys.argv[1:]))
