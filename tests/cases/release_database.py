"""The small database that each release leaves behind, to be upgraded by every later version.

Made with `make release-database NAME=0.1.0` when a version is released: a backup by that very version, with
the digests of the boards that it had published. Read by tests/db/test_releases.py.
"""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from app.config import Settings
from app.db.dumps import make_dump
from app.db.embedded import running_server
from app.db.migrate import MIGRATIONS, upgrade
from tests.cases.exports import all_exports
from tests.cases.running_server import fresh_data_dir
from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import open_site

RELEASES = Path(__file__).parents[1] / "data" / "releases"
ABOUT = "release.json"
PUBLISHED = re.compile(r"/benchmarks/[^/]+/leaderboards/[^/]+(?:/pairwise)?\.csv(?:\?snapshot=\d+)?")


def schema_digest() -> str:
    """Return the digest of all that makes the first revision: while nothing is released it may still be edited."""
    digest = hashlib.sha256()
    for path in sorted([*MIGRATIONS.glob("initial/*.sql"), *MIGRATIONS.glob("versions/0001_*.py")]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def board_digests(exports: dict[str, bytes]) -> dict[str, str]:
    """Return the digests of published boards, which no later version may change."""
    boards = {address: content for address, content in exports.items() if PUBLISHED.fullmatch(address)}
    return {address: hashlib.sha256(content).hexdigest() for address, content in sorted(boards.items())}


def make(target: Path, *, is_released: bool) -> None:
    """Make the database of a release in a new folder: registered, submitted, published, superseded."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as address:
        upgrade(address)
        with open_site(address, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
            declare(site)
            for rows in (BASE, GOOD, BETTER):
                send(site, rows)
                site.work()
            about: dict[str, Any] = {"is_released": is_released, "schema": schema_digest()}
            about["boards"] = board_digests(all_exports(site.http))
        make_dump(address, target)
    (target / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    RELEASES.mkdir(exist_ok=True)
    make(RELEASES / sys.argv[1], is_released=not sys.argv[1].startswith("unreleased"))
