"""The small database that each release leaves behind, to be upgraded by every later version.

Made with `make release-database NAME=0.1.0` when a version is released: a backup by that very version, with the
digests of what every data address of every snapshot answered. Read by tests/db/test_releases.py.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psycopg
import pyarrow as pa

from app.cli.demo import Example
from app.cli.serve import EXAMPLES
from app.config import Settings
from app.db.dumps import make_dump
from app.db.embedded import running_addresses
from app.db.migrate import MIGRATIONS, upgrade
from app.jobs.refresh import prune, seal
from tests.cases import secret_labels
from tests.cases.databases import note_roles
from tests.cases.examples import load
from tests.cases.running_server import fresh_data_dir
from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, PREREG, give, send
from tests.fixtures import Site, open_site

RELEASES = Path(__file__).parents[1] / "data" / "releases"
ABOUT = "release.json"

FIELDS = b"entrant,licence\nGood,MIT\nBase,Apache-2.0\n"
TABLES = """
    SELECT b.slug, s.number, t.name FROM snapshot_table t JOIN snapshot s ON s.id = t.snapshot_id
    JOIN benchmark b ON b.id = s.benchmark_id
    WHERE NOT EXISTS (SELECT FROM snapshot_end e WHERE e.snapshot_id = s.id) ORDER BY b.slug, s.number, t.name
"""
FORMATS = ("csv", "json", "parquet")


def initial_digest() -> str:
    """Return the digest of all that makes the first revision."""
    digest = hashlib.sha256()
    for path in sorted([*MIGRATIONS.glob("initial/**/*.sql"), *MIGRATIONS.glob("versions/0001_*.py")]):
        digest.update(path.relative_to(MIGRATIONS).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def data_addresses(database_url: str) -> list[str]:
    """Return the address of every table of every kept snapshot in every format, and of its rows."""
    with psycopg.connect(database_url) as connection:
        tables = connection.execute(TABLES).fetchall()
    found: dict[str, None] = {}
    for slug, number, name in tables:
        kind, _, board = name.partition("/")
        if board:
            path = {"tables": name, "leaderboard": f"leaderboards/{board}"}.get(kind, f"leaderboards/{board}/{kind}")
        else:
            path = name if name == "claims" else f"tables/{name}"
        found |= dict.fromkeys(f"/benchmarks/{slug}/{path}.{form}?snapshot={number}" for form in FORMATS)
        found[f"/benchmarks/{slug}/rows.csv?snapshot={number}"] = None
    return list(found)


def digests(get: Callable[[str], tuple[int, bytes]], addresses: Iterable[str]) -> Mapping[str, str]:
    """Return the digest of what each address answers, of those that have something."""
    answers = ((address, *get(address)) for address in addresses)
    return {each: hashlib.sha256(content).hexdigest()[:32] for each, status, content in answers if status == 200}


def fill(site: Site) -> None:
    """Have every kind of row: examples, private labels, fields, supersession, a citation, ended snapshots, seals."""
    for name in ("breast-cancer", "lrdbench-sensitivity", "chamber-as"):
        load(site, Example(EXAMPLES / name))
    site.work()
    declared = MANIFEST + "entrant_fields: [licence]\n"
    assert site.http.post("/benchmarks", content=declared, headers=site.auth("steward")).status_code == 201
    give(site, "tiny", "Base")
    assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
    for rows in (BASE, GOOD, BETTER, BASE.replace(b"1.0", b"3.0"), BASE.replace(b"1.0", b"1.5")):
        assert send(site, rows)["http"] == 202
        site.work()
    files = {"file": ("entrants.csv", FIELDS)}
    site.http.post("/benchmarks/tiny/entrants", files=files, headers=site.auth("steward")).raise_for_status()
    assert site.http.get("/benchmarks/tiny/cite.bib?snapshot=2").status_code == 200
    labels = secret_labels.truth(60)
    secret_labels.begin(site, secret_labels.manifest(), secret_labels.words(list(labels)))
    for entrant, share in (("A", 0.7), ("B", 0.9)):
        assert secret_labels.send(site, secret_labels.knowing(labels, share), entrant).status_code == 202
    site.work()
    prune(site.sessions, 0)
    seal(site.sessions)


def make(target: Path) -> None:
    """Write the backup of a filled server and what it answered into a new folder."""
    with fresh_data_dir() as data_dir, running_addresses(data_dir) as addresses:
        note_roles(addresses.owner, addresses.runtime)
        upgrade(addresses.owner)
        with open_site(addresses.owner, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
            fill(site)

            def get(address: str) -> tuple[int, bytes]:
                answer = site.http.get(address)
                return answer.status_code, answer.content

            answered = digests(get, data_addresses(addresses.owner))
        make_dump(addresses.owner, target)
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    about = {"commit": done.stdout.strip(), "pyarrow": pa.__version__, "answers": answered}
    (target / ABOUT).write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    RELEASES.mkdir(exist_ok=True)
    make(RELEASES / sys.argv[1])
