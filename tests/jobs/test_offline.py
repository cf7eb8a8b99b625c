"""Boards computed without a database are those of a server, to the digit."""

from pathlib import Path

from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.jobs.boards import compute_tables
from app.jobs.replay import offline_evidence
from app.kinds.parse import parse_manifest
from app.kinds.reader import read_evidence
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, board, declare, send
from tests.fixtures import Site


def test_an_offline_board_equals_the_published_one(roomy_site: Site, tmp_path: Path) -> None:
    """Every table of two submissions, row by row."""
    declare(roomy_site)
    manifest = parse_manifest(MANIFEST.encode())
    uploads = []
    for number, content in enumerate((BASE, GOOD), start=1):
        send(roomy_site, content)
        roomy_site.work()
        path = tmp_path / f"{number}.csv"
        path.write_bytes(content)
        read = read_evidence(manifest, [SentFile(path.name, path)], None, Limits.from_settings(Settings()))
        uploads.append(read)
    computed = {table.name: table for table in compute_tables(offline_evidence(manifest, uploads))}

    for name in ("skill", "average"):
        published = board(roomy_site, name)["rows"]
        reported = [
            {key: row[key] for key in row if key in published[0]} for row in computed[f"leaderboard/{name}"].records()
        ]
        assert [{key: row[key] for key in reported[0]} for row in published] == reported
