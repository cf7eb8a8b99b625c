"""pgbouncer in front of a database, with connections of one transaction each."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.cases.waiting import eventually

needs_pgbouncer = pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="needs Debian's package pgbouncer")
CONFIG = """\
[databases]
* = {server}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 3
{more}
"""


@contextmanager
def pooler(database_url: str, folder: Path, more: str = "") -> Iterator[str]:
    """Run pgbouncer in front of a database and yield the address through it."""
    url = make_url(database_url)
    host, user = url.query.get("host", url.host), url.username
    server = f"host={host} port={url.query.get('port', url.port or 5432)} user={user}"
    server += "" if url.password is None else f" password={url.password}"
    config = folder / "pgbouncer.ini"
    config.write_text(CONFIG.format(server=server, folder=folder, more=more))
    as_root = ["--user=postgres"] if os.geteuid() == 0 else []
    process = subprocess.Popen(["pgbouncer", "--quiet", *as_root, config], stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: _listens(folder / ".s.PGSQL.6432"))
        yield f"postgresql://{user}@/{url.database}?host={folder}&port=6432"
    finally:
        process.terminate()
        process.wait()


def _listens(path: Path) -> bool:
    """Say whether it takes connections: its socket is there a moment before, and refuses them."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
