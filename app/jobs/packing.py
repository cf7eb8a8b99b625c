"""Tables of a publication, packed while those that follow are computed. Called by `app.jobs.publish`."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future

from app.jobs.changes import BOARD, ranks_by_board
from app.store import snapshots
from app.values.table import Table


class Packing:
    """Finished tables and their bytes; each table is finished and packed once, as soon as it is computed."""

    def __init__(self, pool: Executor, finish: Callable[[Table], Table]) -> None:
        self._pool, self._finish = pool, finish
        self._finished: dict[int, Table] = {}
        # Each table is kept alive, so that no other gets its `id()`.
        self._packed: dict[int, tuple[Table, Future[bytes]]] = {}

    def begin(self, tables: Sequence[Table]) -> None:
        """Pack tables that are computed, each finished first."""
        for table in tables:
            finished = self._finished[id(table)] = self._finish(table)
            self._packed[id(table)] = table, self._pool.submit(_pack, finished)
            self._packed[id(finished)] = finished, self._packed[id(table)][1]

    def finished(self, tables: Sequence[Table]) -> list[Table]:
        """Return tables as they are published, packing those that were not begun yet."""
        self.begin([table for table in tables if id(table) not in self._finished])
        return [self._finished[id(table)] for table in tables]

    def contents(self, tables: Iterable[Table]) -> dict[str, bytes]:
        """Return the bytes of finished tables by name."""
        return {table.name: self._packed[id(table)][1].result() for table in tables}


def _pack(table: Table) -> bytes:
    content = snapshots.pack_table(table)
    if table.name.startswith(BOARD):
        # The next publication compares it to find what changed.
        snapshots.keep_ranks(content, ranks_by_board([table])[table.name.removeprefix(BOARD)])
    return content
