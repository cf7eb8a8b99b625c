"""Errors for an embedded Postgres that cannot be created or started: what, where, advice, the end of its log.

Called by the other modules beside it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import EmbeddedDatabaseError

OTHERWISE = "Or set PLUMBLINE_DATA_DIR to another folder, or PLUMBLINE_DATABASE_URL to a Postgres of your own."
UNUSABLE = "The data folder could not be used"
CLUSTER_NEEDS_MIB = 100
TAIL_LINES = 15
TAIL_BYTES = 4096

# What Postgres and the C library print (in English, see `_environment`), and what a person can do about it.
NO_SPACE = "No space left on device"
ADVICE = {
    NO_SPACE: f"the disk is full; free at least {CLUSTER_NEEDS_MIB} MiB there",
    "Disk quota exceeded": "the disk quota is used up; raise it or free some space",
    "File too large": "a limit on the size of files is in force; raise it (ulimit -f)",
    "Read-only file system": "the file system is mounted read-only; mount it writable",
    "Permission denied": "a file or folder there is not ours to read or write; mend its owner or its permissions",
    "Not a directory": "there is a file where a folder should be; move it away",
    "could not look up effective user ID": "the user of this process has no name in /etc/passwd; add one",
    "could not map anonymous shared memory": "there is too little memory; free at least 512 MiB",
}

# What pg_ctl prints; we show it only when the log has nothing.
LOOK_INTO_LOG = "Examine the log output"
UNLOGGED = "it could not write to its log; see whether a quota or a limit on the size of files (ulimit -f) is in force"


def trouble(what: str, folder: Path, printed: str) -> EmbeddedDatabaseError:
    """Return the error for something that failed in a folder, with advice drawn from what was printed."""
    advice = _advice(folder, printed)
    printed_lines = [line for line in printed.splitlines() if line.strip()]
    lines = "\n".join(f"    {line}" for line in printed_lines[-TAIL_LINES:])
    ending = f"\nThe last that was printed:\n{lines}" if lines else ""
    return EmbeddedDatabaseError(f"{what} in {folder}: {advice}. {OTHERWISE}{ending}")


def _advice(folder: Path, printed: str) -> str:
    for sign, advice in ADVICE.items():
        if sign in printed:
            return advice
    if _is_nearly_full(folder):
        # A full disk has no room for the log that would say so.
        return ADVICE[NO_SPACE]
    return UNLOGGED if LOOK_INTO_LOG in printed else "see what it printed"


def _is_nearly_full(folder: Path) -> bool:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(existing).free < CLUSTER_NEEDS_MIB * 1024 * 1024 // 4


def tail(log: Path, n_old_bytes: int = 0) -> str:
    """Return the end of a log file without what was there before; nothing when there is none."""
    if not log.exists():
        return ""
    with log.open("rb") as opened:
        opened.seek(max(n_old_bytes, log.stat().st_size - TAIL_BYTES))
        return opened.read().decode("utf-8", "replace")


@contextmanager
def explained(what: str, folder: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise trouble(what, folder, str(error)) from error
