"""`plumbline worker`: a process that does background jobs. It imports nothing that answers requests: half as much."""

import os
from functools import partial
from ipaddress import ip_network
from typing import Annotated

import typer

from app.cli.allocator import give_back_free_pages, give_back_large_arrays
from app.cli.database import open_migrated
from app.cli.observing import answer_figures, configure_log
from app.cli.signs_of_life import exit_when_hung, send_beats, stop_with_supervisor
from app.cli.supervisor import STOP_MARGIN_S, job_grace_s
from app.config.settings import Settings
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
        run_worker(
            database_url,
            concurrency=concurrency,
            tidy=give_back_free_pages,
            grace_s=job_grace_s(settings),
            beside=send_beats if supervised else partial(exit_when_hung, settings.worker_patience_s),
            outgoing=_outgoing(settings),
        )


def _outgoing(settings: Settings) -> Outgoing:
    networks = tuple(ip_network(network) for network in settings.webhook_networks)
    return Outgoing(settings.base_url or "", settings.smtp_url, settings.mail_from, networks)
