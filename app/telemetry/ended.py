"""The figures of processes that have ended: added up in one file of each kind, so that restarts fill no folder.

Each process of a server keeps its counters in files of its own, which must be counted for as long as the server runs,
and a worker that ends at every start would leave thousands of them. Called by `app.cli.observing` and
`app.telemetry.metrics`.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from prometheus_client.mmap_dict import MmapedDict

KINDS = ("counter", "histogram")
ENDED = "ended"
# Any: the library declares no types for it.
FIGURES: Any = MmapedDict


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until nobody reads or adds up the figures of a folder: between two steps some would count twice."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def add_up_ended(folder: Path) -> None:
    """Replace the files of processes that are no more by one file of each kind. Raises OSError on a full disk."""
    for kind in KINDS:
        gone = [path for path in folder.glob(f"{kind}_*.db") if _is_of_nobody(path)]
        if gone:
            with alone(folder):
                _add_up(gone, folder / f"{kind}_{ENDED}.db")


def _is_of_nobody(path: Path) -> bool:
    owner = path.stem.rpartition("_")[2]
    return owner != ENDED and not psutil.pid_exists(int(owner))


def _add_up(gone: Sequence[Path], ended: Path) -> None:
    sums: dict[str, float] = {}
    for path in (*gone, ended):
        # Empty where its process ended before its first figure.
        if path.exists() and path.stat().st_size > 0:
            for key, value, *_ in FIGURES.read_all_values_from_file(path):
                sums[key] = sums.get(key, 0.0) + value
    partial = ended.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    written = FIGURES(partial)
    for key, value in sums.items():
        written.write_value(key, value, 0.0)
    written.close()
    partial.replace(ended)
    for path in gone:
        path.unlink()
