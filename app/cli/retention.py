"""`plumbline db size`, `db prune` and `db pin`: how large the database is and will be, and which snapshots end."""

from typing import Annotated

import typer
from rich.table import Table

from app.cli.database import open_migrated, sessions_of
from app.config import LONGEST_DAYS, Settings
from app.errors import SettingsError
from app.store import benchmark_rows, retention, snapshots
from plumbline.cli.output import note, say, show

DAYS_A_YEAR = 365


def register(group: typer.Typer) -> None:
    """Add the commands to `plumbline db`."""
    for command in (size, prune, pin):
        group.command(command.__name__)(command)


def size() -> None:
    """Say how many bytes each benchmark takes, and what a publication, a day and a year take at the present rate."""
    with (
        open_migrated(Settings.from_env()) as database_url,
        sessions_of(database_url) as sessions,
        sessions() as session,
    ):
        in_all, each = retention.sizes(session)
    table = Table("benchmark", "snapshots", "kept", "their bytes", "rows' bytes", "a publication", "a day", "a year")
    for of in each:
        shown = (of.snapshot_bytes, of.row_bytes, of.bytes_a_publication, of.bytes_a_day, of.bytes_a_day * DAYS_A_YEAR)
        table.add_row(of.benchmark, f"{of.n_snapshots:,}", f"{of.n_kept:,}", *map(_in_bytes, shown))
    show(table)
    a_day = sum(of.bytes_a_day for of in each)
    say(f"{_in_bytes(in_all)} in all; at the rate of the last {retention.WINDOW_DAYS} days {_in_bytes(a_day)} more a "
        f"day, {_in_bytes(a_day * DAYS_A_YEAR)} a year. The log (WAL) of the database takes about as much again "
        "where it is archived.")  # fmt: skip


def prune(
    *,
    days: Annotated[
        int | None,
        typer.Option(
            min=1, max=LONGEST_DAYS, help="Keep every snapshot this long; PLUMBLINE_KEEP_SNAPSHOTS_DAYS by default."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would end.")] = False,
) -> None:
    """End old snapshots, but for the first and last of each day, those cited or pinned, and what is shown."""
    settings = Settings.from_env()
    kept_days = days if days is not None else settings.keep_snapshots_days
    if kept_days is None:
        raise SettingsError("Nothing says how long snapshots are kept: give --days, or PLUMBLINE_KEEP_SNAPSHOTS_DAYS.")
    n_ended, n_bytes = 0, 0
    with open_migrated(settings) as database_url, sessions_of(database_url) as sessions:
        while True:
            with sessions.begin() as session:
                ending = retention.find_ending(session, kept_days, 1_000_000 if dry_run else retention.MOST_AT_ONCE)
                for each in ending:
                    say(f"{each.benchmark} snapshot {each.number} of {each.published_on}, {_in_bytes(each.n_bytes)}")
                n_ended += len(ending)
                n_bytes += (
                    retention.bytes_freed(session, ending) if dry_run else retention.end(session, ending, kept_days)
                )
            if dry_run or not ending:
                break
    what = "would end" if dry_run else "ended: their addresses answer 410"
    free = f"{_in_bytes(n_bytes)} {'would be' if dry_run else 'are'} free"
    note(f"{n_ended:,} snapshots {what}. {free}: tables on which a kept snapshot rests stay.")


def pin(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    snapshot: Annotated[int, typer.Argument(help="The number of the snapshot.")],
    reason: Annotated[str, typer.Argument(help="Why it is kept for ever.")],
) -> None:
    """Keep a snapshot for ever, whatever the setting says."""
    with (
        open_migrated(Settings.from_env()) as database_url,
        sessions_of(database_url) as sessions,
        sessions.begin() as session,
    ):
        found = benchmark_rows.find_benchmark(session, benchmark)
        shown = snapshots.find_snapshot(session, found, snapshot)
        if shown is not None:
            retention.pin(session, found, shown, reason)
    note(f"Snapshot {snapshot} of {benchmark} is kept for ever.")


def _in_bytes(n_bytes: float) -> str:
    """Return a number of bytes as people read it.

    >>> _in_bytes(999), _in_bytes(1_710_000), _in_bytes(125e9)
    ('999 B', '1.7 MB', '125.0 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.1f} {unit}"
    return f"{n_bytes:.0f} B"
