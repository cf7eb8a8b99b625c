"""A process that uses the embedded database until its standard input ends; run by the tests of `app.db.embedded`.

Arguments: the data folder and, under root, the user to become. It prints the address, or the error and exits with 1.
"""

import os
import pwd
import sys
from pathlib import Path

import psycopg

from app.db.embedded import running_server
from app.errors import EmbeddedDatabaseError


def main() -> int:
    """Become the user, use the database, and on Ctrl-C ask it once more before going."""
    data_dir, *users = sys.argv[1:]
    for name in users:
        become(name)
    try:
        with running_server(Path(data_dir)) as address:
            try:
                print(address, flush=True)
                sys.stdin.read()
            except KeyboardInterrupt:
                print(ask(address), flush=True)
    except EmbeddedDatabaseError as error:
        print(error, flush=True)
        return 1
    return 0


def become(name: str) -> None:
    """Be an ordinary user from here on; only now, because the interpreter may live where they cannot look."""
    entry = pwd.getpwnam(name)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def ask(address: str) -> str:
    """Return what a query answers."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT 'still answers'").fetchone()
    return str(row and row[0])


if __name__ == "__main__":
    sys.exit(main())
