"""A copy of one server, made once for the tests of a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config import Settings
from app.db.dumps import make_dump
from app.db.embedded import running_server
from app.db.migrate import upgrade
from tests.cases.exports import all_exports
from tests.cases.running_server import fresh_data_dir
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import open_site


@dataclass(frozen=True)
class Copies:
    """A dump of a server, and what the server showed."""

    dump: Path
    exports: dict[str, bytes]


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    """A server with a publication, copied after it."""
    with fresh_data_dir() as data_dir, running_server(data_dir) as address:
        upgrade(address)
        with open_site(address, Settings(max_stale_s=0, max_reads_per_minute=100_000)) as site:
            declare(site)
            send(site, BASE)
            send(site, GOOD)
            site.work()
            dump = data_dir.parent / "dump"
            make_dump(address, dump)
            yield Copies(dump, all_exports(site.http))
