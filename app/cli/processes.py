"""The processes of a server: `plumbline worker`, and `web`, which only `plumbline serve` starts."""

import asyncio
import os
import resource
import socket
import sys
from functools import partial
from ipaddress import ip_network
from typing import Annotated

import typer
import uvicorn

from app.cli.allocator import give_back_large_arrays
from app.cli.database import open_database, open_migrated
from app.cli.observing import answer_figures, configure_log
from app.cli.signs_of_life import exit_when_hung, send_beats, stop_with_supervisor
from app.cli.supervisor import STOP_MARGIN_S, job_grace_s
from app.cli.workspace import own_temporary_folder
from app.config.settings import Settings
from app.jobs.queue import run_worker
from app.jobs.telling import Outgoing
from app.main import create_app
from app.web.connection_guard import ConnectionLimits
from app.web.connections import guarded_protocol
from app.web.front import Front

NICENESS = 2
# A kept page is sent in a fraction of a millisecond, but the interpreter lets a busy thread go on for five.
SWITCH_S = 0.0005
Supervised = Annotated[bool, typer.Option("--supervised", hidden=True)]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("worker")(worker)
    app.command("web", hidden=True)(web)


def worker(
    *,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="How many jobs at the same time.")] = 2,
    supervised: Supervised = False,
) -> None:
    """Work on the background jobs of a database until stopped; as many workers as you like may share one.

    One that hangs ends itself, so let something start it again.
    """
    settings = Settings.from_env()
    configure_log(settings, "worker")
    give_back_large_arrays()
    if supervised:
        stop_with_supervisor(job_grace_s(settings) + STOP_MARGIN_S)
    # Whoever reads a page or hands something in comes first.
    os.nice(NICENESS)
    with open_migrated(settings) as database_url:
        if not supervised:
            answer_figures(settings)
        run_worker(
            database_url,
            concurrency=concurrency,
            grace_s=job_grace_s(settings),
            beside=send_beats if supervised else partial(exit_when_hung, settings.worker_patience_s),
            outgoing=_outgoing(settings),
        )


def _outgoing(settings: Settings) -> Outgoing:
    networks = tuple(ip_network(network) for network in settings.webhook_networks)
    return Outgoing(settings.base_url or "", settings.smtp_url, settings.mail_from, networks)


class EndingServer(uvicorn.Server):
    """A server that ends, when it stops, the answers that would go on for as long as somebody watches."""

    def __init__(self, config: uvicorn.Config, front: Front) -> None:
        super().__init__(config)
        self._front = front

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what has no end of its own, then wait for the rest."""
        self._front.end_streams()
        await super().shutdown(sockets)


class SupervisedServer(EndingServer):
    """A server whose event loop sends heartbeats to the supervisor as soon as it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and begin to send heartbeats."""
        await super().startup(sockets)
        if self.started:
            self._beats = asyncio.create_task(send_beats())


def web(*, fd: Annotated[int, typer.Option()], supervised: Supervised = False) -> None:
    """Answer requests on a listening socket that was inherited."""
    sys.setswitchinterval(SWITCH_S)
    settings = Settings.from_env()
    configure_log(settings, "web")
    if supervised:
        stop_with_supervisor(settings.stop_grace_s + STOP_MARGIN_S)
    # Not held up by a database that is away: the process says so itself, and serves when it is back.
    limits = ConnectionLimits.from_settings(settings, n_files=allow_most_files())
    with own_temporary_folder(), open_database(settings) as database_url:
        front = create_app(settings, database_url, render_apart=True)
        config = uvicorn.Config(
            front,
            loop="uvloop",
            http=guarded_protocol(limits),
            # Nothing here speaks it, and looking for it costs each request that asks.
            ws="none",
            lifespan="on",
            access_log=False,
            # Else it believes X-Forwarded-For of whatever runs on this machine: `app.web.limits` knows our proxies.
            proxy_headers=False,
            # uvicorn's own lines go the way of all others.
            log_config=None,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=settings.stop_grace_s,
        )
        server = SupervisedServer(config, front) if supervised else EndingServer(config, front)
        server.run(sockets=[socket.socket(fileno=fd)])


def allow_most_files() -> int:
    """Raise the limit of open files to what the system allows, and return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20
