"""Whether the embedded Postgres of a data folder still runs; asked each second by `app.cli.serve`."""

from pathlib import Path

import psutil

from app.db.embedded import find_postmaster, is_alive, make_server


class EmbeddedWatch:
    """Looks at the server's first process, which is remembered: looking at all processes of a machine is dear."""

    def __init__(self, data_dir: Path) -> None:
        self._server = make_server(data_dir)
        self._postmaster: psutil.Process | None = None

    def is_running(self) -> bool:
        """Say whether it runs; one that cannot be seen, as in another container, runs while its lock is held."""
        if self._postmaster is not None and is_alive(self._postmaster):
            return True
        try:
            processes = self._server.processes()
            self._postmaster = find_postmaster(processes)
            return self._postmaster is not None or (not processes and not self._server.is_gone())
        except OSError:
            # The folder is gone, or closed to us. Whoever starts the server says what is wrong with it.
            return False
