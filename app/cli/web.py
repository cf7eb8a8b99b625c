"""`plumbline web`: the process that answers requests, which only `plumbline serve` starts."""

import asyncio
import gc
import os
import resource
import socket
import sys
from typing import Annotated

import typer
import uvicorn
from sqlalchemy.orm import configure_mappers

from app.cli.database import open_database
from app.cli.observing import configure_log, own_temporary_folder
from app.cli.supervisor import STOP_MARGIN_S, send_beats, stop_with_supervisor
from app.config import Settings
from app.main import create_app
from app.program.starting import paused
from app.reading import fork_server

# A kept page is sent in a fraction of a millisecond, but the interpreter lets a busy thread go on for five.
SWITCH_S = 0.0005


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("web", hidden=True)(web)


def spare_collector() -> None:
    """Exempt the some 600,000 objects that a started process keeps until its end from all further collections.

    A full collection looks at each of them with the interpreter in hand, and on a busy machine nobody was answered for
    a second meanwhile. What the database's classes need on their first use is made before.
    """
    configure_mappers()
    gc.collect()
    gc.freeze()


class WebServer(uvicorn.Server):
    """A server that spares the collector what was imported, and ends the readers that are not ready when it stops."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, with what was imported out of the way of the collector."""
        spare_collector()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for what is under way, then end readers that nobody has used."""
        await super().shutdown(sockets)
        fork_server().end_unready()


class SupervisedServer(WebServer):
    """A server whose event loop sends heartbeats to the supervisor as soon as it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and begin to send heartbeats."""
        await super().startup(sockets)
        if self.started:
            self._beats = asyncio.create_task(send_beats())


def web(
    *,
    fd: Annotated[int, typer.Option()],
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Answer requests on a listening socket that was inherited."""
    sys.setswitchinterval(SWITCH_S)
    listener = socket.socket(fileno=fd)
    # A forked process that kept it open would let clients connect, at a stop, to nobody.
    os.register_at_fork(after_in_child=listener.close)
    settings = Settings.from_env()
    configure_log(settings, "web")
    if supervised:
        stop_with_supervisor(settings.stop_grace_s + STOP_MARGIN_S)
    # An unavailable database does not delay startup: the process reports it, and serves once it is back.
    # Of the files that the process may open, a quarter is left to all else.
    most_connections = min(settings.max_connections, max(16, allow_most_files() * 3 // 4))
    with own_temporary_folder(), open_database(settings) as database_url:
        with paused():
            front = create_app(settings, database_url, render_apart=True)
        config = uvicorn.Config(
            front,
            loop="uvloop",
            http="httptools",
            # Slow and oversized requests, and the connections of one address, are bounded by deploy/nginx.conf.
            limit_concurrency=most_connections,
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
        server = SupervisedServer(config) if supervised else WebServer(config)
        server.run(sockets=[listener])


def allow_most_files() -> int:
    """Raise the limit of open files to what the system allows, and return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20
