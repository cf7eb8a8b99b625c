"""`plumbline worker`: a process that does background jobs. It imports nothing that answers requests: half as much."""

import ctypes
import os
from functools import partial
from ipaddress import ip_network
from typing import Annotated

import typer

from app.cli.database import open_migrated
from app.cli.observing import answer_figures, configure_log
from app.cli.supervisor import STOP_MARGIN_S, exit_when_hung, job_grace_s, send_beats, stop_with_supervisor
from app.config import Settings
from app.jobs.notifying import Outgoing
from app.jobs.queue import run_worker

NICENESS = 2


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("worker")(worker)


def worker(
    *,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="How many jobs at the same time.")] = 2,
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Work on the background jobs of a database until stopped; as many workers as you like may share one.

    One that hangs ends itself, so let something start it again.
    """
    settings = Settings.from_env()
    configure_log(settings, "worker")
    give_back_large_arrays()
    if supervised:
        stop_with_supervisor(job_grace_s(settings) + STOP_MARGIN_S)
    # Requests have priority over background work.
    os.nice(NICENESS)
    with open_migrated(settings) as database_url:
        if not supervised:
            answer_figures(settings)
        was_asked = run_worker(
            database_url,
            concurrency=concurrency,
            tidy=give_back_free_pages,
            grace_s=job_grace_s(settings),
            beside=send_beats if supervised else partial(exit_when_hung, settings.worker_patience_s),
            outgoing=_outgoing(settings),
            kept_days=settings.keep_snapshots_days,
        )
    if not was_asked:
        # What restarts a worker "on failure" must see one.
        raise typer.Exit(1)


def _outgoing(settings: Settings) -> Outgoing:
    networks = tuple(ip_network(network) for network in settings.webhook_networks)
    return Outgoing(settings.base_url or "", settings.smtp_url, settings.mail_from, networks)


# How a process gives memory back that it no longer needs.
#
# The arrays of a large board are gone when it is published. The system's allocator learns from the first of them to
# keep what is of their size, up to 32 MiB each, for the next ones: a worker would stay as large as its largest
# moment. Smaller ones lie between things that stay; their pages are the system's again only when the allocator is
# asked to look for them. What is free at the end of its memory it would give back by the 128 KiB and have again a
# moment later, page by page.

TRIM, THRESHOLD, ARENAS = -1, -3, -8
"""M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of glibc's malloc.h."""

LARGE = 4 << 20
"""Bytes from which on memory is the system's again as soon as it is free."""

KEPT = 16 << 20
"""Free bytes at the end that stay for the next smaller arrays."""

MOST_ARENAS = 2


def give_back_large_arrays() -> bool:
    """Have large arrays returned to the system when they are free, some smaller ones not; say whether that can be."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another allocator than glibc's
        return False
    return bool(mallopt(THRESHOLD, LARGE) and mallopt(TRIM, KEPT) and mallopt(ARENAS, MOST_ARENAS))


def give_back_free_pages() -> bool:
    """Return free whole pages to the system, and say whether there were any; takes some milliseconds."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # another allocator than glibc's
        return False
    return bool(trim(0))
