"""`plumbline serve`: starts the database, the web process and the workers, watches them, and stops them again."""

import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import typer

from app.cli.database import bring_up, open_addresses, sessions_of
from app.cli.demo import find_examples, load_examples
from app.cli.observing import FiguresOfEnded, configure_log, shared_figures
from app.cli.supervisor import (
    STOP_MARGIN_S,
    Program,
    StopRequested,
    Supervised,
    Watched,
    job_grace_s,
    restart_delay_s,
    stop_on_signals,
    supervised,
)
from app.config import PREFIX, Settings
from app.db.embedded import make_server
from app.errors import PlumblineError, SettingsError
from app.program.bundled import bundled
from app.rights.tokens import ensure_admin_token, useless_as_admin
from app.store import audit
from app.store.audit import Act, Change
from plumbline.cli.output import say, show_error

logger = logging.getLogger(__name__)

WATCH_EVERY_S = 0.25

BACKLOG = 2048

UNTOLD = "ignore::UserWarning:multiprocessing.resource_tracker"

SECRET_SOURCES = (
    "ADMIN_TOKEN",
    "ADMIN_TOKEN_FILE",
    "DATABASE_URL_FILE",
    "DIRECT_DATABASE_URL_FILE",
    "OWNER_DATABASE_URL",
    "OWNER_DATABASE_URL_FILE",
)

# What only this process needs, or has read from its file already.
NOT_HANDED_ON = frozenset(f"{PREFIX}{name}" for name in SECRET_SOURCES)

EXAMPLES = bundled("examples")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("serve", epilog=describe_settings())(serve)


def serve() -> None:
    """Run a whole server: database, web process, workers. Ctrl-C stops all of it and nothing else.

    With PLUMBLINE_DATABASE_URL your own Postgres serves, else an embedded one is started.
    """
    started_at = time.monotonic()
    settings = Settings.from_env()
    configure_log(settings, "serve")
    try:
        with stop_on_signals(), listen(settings) as listener, shared_figures():
            _serve(settings, listener, started_at)
    except StopRequested:
        logger.info("Stopped.")


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the address of the settings.

    It is made before anything else is started, so that a busy port costs nothing, and kept by the supervisor, so that
    no connection is refused while a web process is started again, unless another host can be asked.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        # Connections of a server that was stopped a moment ago must not block the port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        raise SettingsError(
            f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. "
            "Set PLUMBLINE_PORT (0 takes a free port) or PLUMBLINE_HOST."
        ) from error
    return listener


def _serve(settings: Settings, listener: socket.socket, started_at: float) -> None:
    if settings.database_url is None:
        logger.info("Starting the embedded database in %s", settings.data_dir)
    with ExitStack() as stack:
        addresses = stack.enter_context(open_addresses(settings, may_create=True))
        bring_up(addresses)
        database_url = addresses.runtime
        _ensure_admin(settings, database_url)
        children = stack.enter_context(supervised(programs(settings, database_url, listener)))
        # At a stop nobody takes new connections any more: better refused at once than accepted and never answered.
        stack.callback(listener.close)
        watched: list[Watched] = [*children, FiguresOfEnded()]
        if settings.database_url is None:
            watched.append(stack.enter_context(watched_database(settings.data_dir)))
        address = f"http://{local_host(listener)}:{listener.getsockname()[1]}"
        wait_until_ready(address, children, watched)
        _say(
            settings,
            f"plumbline is at {settings.base_url or address} (started in {time.monotonic() - started_at:.1f} s)",
        )
        logger.info("Press Ctrl-C to stop.")
        if settings.demo:
            _load_examples(settings, address, database_url, watched)
        _watch(watched)


def _say(settings: Settings, text: str) -> None:
    """Print what somebody waits for to standard output, in the form of the log; a token is not hidden there."""
    if settings.log_format == "json":
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        text = json.dumps({"event": text, "level": "info", "timestamp": at, "process": "serve"}, ensure_ascii=False)
    say(text)


def _load_examples(settings: Settings, address: str, database_url: str, watched: Iterable[Watched]) -> None:
    """Load the examples; a failure is logged, and the server stays."""
    started_at = time.monotonic()
    try:
        loaded = load_examples(address, database_url, find_examples(EXAMPLES), lambda: _check_all(watched))
    except PlumblineError as error:
        show_error(error)
        return
    if loaded:
        _say(settings, f"The examples are published (loaded in {time.monotonic() - started_at:.1f} s).")


def programs(settings: Settings, database_url: str, listener: socket.socket) -> Sequence[Program]:
    """Return what the server consists of: the web process, and as many workers as the settings say."""
    # By the environment and not by arguments: every user of a machine can read the arguments of a process.
    environ = {name: text for name, text in os.environ.items() if name not in NOT_HANDED_ON}
    environ[f"{PREFIX}DATABASE_URL"] = settings.database_url or database_url
    if settings.direct_database_url is not None:
        environ[f"{PREFIX}DIRECT_DATABASE_URL"] = settings.direct_database_url
    # A web process ends by the signal that stopped it: what frees its semaphores then need not tell the operator so.
    environ["PYTHONWARNINGS"] = ",".join(filter(None, (environ.get("PYTHONWARNINGS"), UNTOLD)))
    fd = listener.fileno()
    return [
        Program(
            "the web process",
            (*_plumbline("web"), f"--fd={fd}"),
            environ,
            patience_s=settings.web_patience_s,
            grace_s=settings.stop_grace_s + STOP_MARGIN_S,
            pass_fds=(fd,),
            refuses=listener if settings.several_hosts and settings.port else None,
        ),
        *(_worker(n, settings, environ) for n in range(1, n_workers(settings) + 1)),
    ]


def _worker(number: int, settings: Settings, environ: Mapping[str, str]) -> Program:
    return Program(
        f"worker {number}",
        _plumbline("worker"),
        environ,
        patience_s=settings.worker_patience_s,
        grace_s=job_grace_s(settings) + STOP_MARGIN_S,
    )


def n_workers(settings: Settings) -> int:
    """Return how many workers run beside the web process."""
    if settings.workers is not None:
        return settings.workers
    return 1 if settings.database_url is None else 0


def _plumbline(command: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "app.cli", command, "--supervised")


def local_host(listener: socket.socket) -> str:
    """Return a host under which this machine reaches the socket, as written in a URL."""
    host = str(listener.getsockname()[0])
    if listener.family == socket.AF_INET6:
        return "[::1]" if host == "::" else f"[{host}]"
    return "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - compared, not bound


def _ensure_admin(settings: Settings, database_url: str) -> None:
    """Make sure that an admin can sign in; show a token that was made, and say when the given one is of no use."""
    given = settings.admin_token
    with sessions_of(database_url) as sessions, sessions.begin() as session:
        complaint = None if given is None else useless_as_admin(session, given)
        token = ensure_admin_token(session, given)
        if token is not None:
            audit.record(session, Act("plumbline serve"), None, Change(after={"role": "admin"}))
    if complaint is not None:
        logger.warning("PLUMBLINE_ADMIN_TOKEN is %s. Unset it, or set a new one.", complaint)
    if token is not None:
        _say(settings, f"Admin token (shown only this once): {token}")


def _check_all(watched: Iterable[Watched]) -> None:
    for each in watched:
        each.check()


def _watch(watched: Iterable[Watched]) -> None:
    while True:
        _check_all(watched)
        time.sleep(WATCH_EVERY_S)


def describe_settings() -> str:
    """Return every setting with its meaning and default, for the end of the help."""
    lines = []
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True, validated_data={})
        lines.append(f"{PREFIX}{name.upper()}: {field.description}" + ("" if default is None else f" ({default})"))
    return "\n\n".join(["Settings are environment variables (and their defaults):", *lines])


# Waits until a server that was just started answers; used by `plumbline serve`.

READY_WITHIN_S = 120.0

PAUSE_S = 0.05

MAX_FAILED_STARTS = 4


class NeverReady(PlumblineError):
    """The web process does not come up; what it printed says why."""


def wait_until_ready(address: str, children: Sequence[Supervised], watched: Iterable[Watched]) -> None:
    """Return when the server says that it is ready; all that is `watched` is looked at meanwhile.

    Raises NeverReady when a child fails again and again, or is not ready for long though all of them are up. How long
    one may take to come up is the supervisor's to judge: on a starved machine that is minutes.
    """
    up_s, looked_at = 0.0, time.monotonic()
    while not is_ready(address):
        for each in watched:
            each.check()
        for child in children:
            if child.n_failed_starts >= MAX_FAILED_STARTS:
                raise NeverReady(f"{child.program.name} failed {child.n_failed_starts} times; its output is above.")
        now = time.monotonic()
        up_s, looked_at = up_s + (now - looked_at) * all(child.is_up for child in children), now
        if up_s > READY_WITHIN_S:
            raise NeverReady(f"{address}/readyz did not report ready within {READY_WITHIN_S:.0f} s. {why(address)}")
        time.sleep(PAUSE_S)


def why(address: str) -> str:
    """Return what the server itself says of why it cannot serve."""
    try:
        return str(httpx2.get(f"{address}/readyz", timeout=10.0).json()["detail"])
    except (httpx2.HTTPError, ValueError, KeyError):
        return "It does not say why."


def is_ready(address: str) -> bool:
    """Ask the server whether it can serve."""
    try:
        return httpx2.get(f"{address}/readyz", timeout=2.0).is_success
    except httpx2.TransportError:
        return False


# Has the embedded Postgres started again when it ends while a server runs; used by `plumbline serve`.
#
# Another process starts it (`plumbline db check`), under the locks that every user of the data folder keeps. So the
# supervisor goes on tending the rest through a long recovery, and can be stopped in the middle of it.

LOOKS_EVERY_S = 1.0

STARTER = (sys.executable, "-m", "app.cli", "db", "check", "--quick")


class DatabaseWatch:
    """Looks each second whether the server runs; while it does not, starts it, and again after growing pauses."""

    def __init__(self, data_dir: Path) -> None:
        self._server = make_server(data_dir)
        self._starter: subprocess.Popen[bytes] | None = None
        self._look_after = 0.0
        self._n_failures = 0

    def check(self) -> None:
        """Do what is due now; never waits."""
        if self._starter is not None:
            self._see_starter(self._starter)
        elif time.monotonic() >= self._look_after:
            self._look_after = time.monotonic() + LOOKS_EVERY_S
            if not self._server.is_running():
                self._start()

    def _start(self) -> None:
        logger.warning("the embedded database has ended; starting it again")
        # In a session of its own, so that Ctrl-C reaches only the supervisor. It prints its own errors.
        self._starter = subprocess.Popen(  # noqa: S603 - the command is our own
            STARTER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def _see_starter(self, starter: subprocess.Popen[bytes]) -> None:
        if starter.poll() is None:
            return
        self._starter = None
        if self._server.is_running():
            self._n_failures = 0
            logger.warning("the embedded database is running again")
        else:
            self._n_failures += 1
            delay_s = restart_delay_s(self._n_failures)
            self._look_after = time.monotonic() + delay_s
            logger.warning("the embedded database did not start; trying again in %.1f s", delay_s)

    def stop(self) -> None:
        """End the process that is starting the server, if there is one; the server's last user stops the server."""
        if self._starter is not None:
            self._starter.kill()
            self._starter.wait()


@contextmanager
def watched_database(data_dir: Path) -> Iterator[DatabaseWatch]:
    """Yield a watch over a data folder's server."""
    watch = DatabaseWatch(data_dir)
    try:
        yield watch
    finally:
        watch.stop()
