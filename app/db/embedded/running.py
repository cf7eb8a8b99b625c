"""The embedded Postgres: a real one, started for as long as some process of ours uses its data folder.

Called by whatever needs a database when no PLUMBLINE_DATABASE_URL is set. The first process that comes starts the
server, the last one that goes stops it, and a killed process counts as gone.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.embedded.database import runtime_url
from app.db.embedded.locks import exclusive, lock_file, share, try_alone
from app.db.embedded.place import Place
from app.db.embedded.server import Server, ensure_running, make_server, stop
from app.db.embedded.trouble import UNUSABLE, explained


@contextmanager
def running_server(data_dir: Path) -> Iterator[str]:
    """Yield the owner's address of the database in a data folder, which is made if it is not there.

    What serves takes that of the runtime role (`running_addresses`).

    Raises EmbeddedDatabaseError, which says what to do. Ctrl-C does not reach the server, so the caller may still use
    it while cleaning up. A signal that ends the process outright, as SIGTERM does by default, leaves the server
    running until the next user goes; the caller turns it into an exception to prevent that.
    """
    server = make_server(data_dir)
    with ExitStack() as stack:
        with explained(UNUSABLE, server.place.folder):
            users = stack.enter_context(lock_file(server.place.users_lock))
        try:
            # No one who goes stops the server between our finding it and our being counted as its user.
            with explained(UNUSABLE, server.place.folder), exclusive(server.place.start_lock):
                share(users)
                database_url = ensure_running(server)
            yield database_url
        finally:
            _leave(server, users)


@dataclass(frozen=True)
class Addresses:
    """A database, for the role that owns its tables and for the one that serves; they may be the same."""

    owner: str
    runtime: str


@contextmanager
def running_addresses(data_dir: Path) -> Iterator[Addresses]:
    """Yield the addresses of the database in a data folder, as `running_server` does that of the owner."""
    with running_server(data_dir) as owner:
        yield Addresses(owner, runtime_url(owner, Place(data_dir.resolve()).cluster))


def _leave(server: Server, users: int) -> None:
    with explained(UNUSABLE, server.place.folder), exclusive(server.place.start_lock):
        if try_alone(users):
            stop(server)
