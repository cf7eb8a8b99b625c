"""The processes of a server: `plumbline worker`, and `web`, which only `plumbline serve` starts."""

import socket
from typing import Annotated

import typer
import uvicorn

from app.cli.database import open_database
from app.cli.supervisor import stop_with_supervisor
from app.config import Settings
from app.jobs.queue import run_worker
from app.main import create_app

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
    """Work on the background jobs of a database until stopped; as many workers as you like may share one."""
    if supervised:
        stop_with_supervisor()
    with open_database(Settings.from_env()) as database_url:
        run_worker(database_url, concurrency=concurrency)


def web(*, fd: Annotated[int, typer.Option()], supervised: Supervised = False) -> None:
    """Answer requests on a listening socket that was inherited."""
    if supervised:
        stop_with_supervisor()
    settings = Settings.from_env()
    with open_database(settings) as database_url:
        config = uvicorn.Config(
            create_app(settings, database_url),
            loop="uvloop",
            http="httptools",
            lifespan="on",
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=3,
        )
        uvicorn.Server(config).run(sockets=[socket.socket(fileno=fd)])
