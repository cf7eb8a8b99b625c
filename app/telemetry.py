"""What a running server says of itself: its log, its figures and its traces.

The log: a line for each event, as JSON or for people, with the request that it belongs to and no secret in it.

`configure` is called once by each process of `app.cli`; everybody else uses `logging` or `event`, and `bind` names the
request or the job that whatever is logged belongs to.

Why: docs/adr/044-observability.md.
"""

import fcntl
import logging
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import psutil
import structlog
from opentelemetry import propagate, trace
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from structlog.contextvars import bound_contextvars, get_contextvars

from app.errors import SettingsError

Form = Literal["text", "json"]

Fields = MutableMapping[str, Any]

HIDDEN = "…"

# Tokens and invitations; credentials of an address; what follows the names of secrets in headers and settings.
SECRETS = re.compile(
    r"(?P<token>pl[bi]_)[\w-]+"
    r"|(?P<address>://[^/\s:@]*:)[^@\s]+(?=@)"
    r"|(?P<named>(?i:authorization|cookie|password|pgpassword|secret|access_key|idempotency-key)\W{1,4}(?i:bearer )?)"
    r"[^\s,;'\"}]+"
)

QUIET = ("alembic", "httpx2", "procrastinate", "botocore", "urllib3")


def configure(form: Form, process: str, secrets: tuple[str | None, ...] = ()) -> None:
    """Write everything that this process logs to standard error in one form; `secrets` are removed from every line."""
    known = tuple(text for text in secrets if text)

    def hide(_: Any, __: str, fields: Fields) -> Fields:
        return {name: _hidden(value, known) for name, value in fields.items()}

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_facts(process),
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, hide, _renderer(form)],
        )
    )
    # A person at a terminal wants to hear of what is wrong; a collector of logs of everything that was done.
    level = logging.INFO if form == "json" or process == "serve" else logging.WARNING
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    if form == "json":
        # What nobody caught is a line as well: a collector that reads lines would lose exactly that.
        logging.captureWarnings(capture=True)
        sys.excepthook = _log_uncaught
        threading.excepthook = lambda ended: _log_uncaught(*ended[:3])


def _log_uncaught(kind: Any, error: Any, trace_back: Any) -> None:
    logging.getLogger(__name__).critical("ended by an exception", exc_info=(kind, error, trace_back))


def _facts(process: str) -> list[structlog.typing.Processor]:
    def of_process(_: Any, __: str, fields: Fields) -> Fields:
        return {**fields, "process": process}

    def own_fields(_: Any, __: str, fields: Fields) -> Fields:
        record = fields.get("_record")
        return {**fields, **getattr(record, "fields", {})}

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        of_process,
        own_fields,
        # Tracebacks as text and without the values of variables, among which are tokens.
        structlog.processors.format_exc_info,
    ]


def _renderer(form: Form) -> structlog.typing.Processor:
    if form == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)

    def for_people(_: Any, __: str, fields: Fields) -> str:
        beside = " ".join(f"{name}={fields[name]}" for name in fields if name not in UNSHOWN)
        lines = [f"{fields['event']} ({beside})" if beside else str(fields["event"])]
        return "\n".join([*lines, fields["exception"]] if "exception" in fields else lines)

    return for_people


UNSHOWN = frozenset({"event", "level", "logger", "timestamp", "process", "exception"})


def _hidden(value: Any, known: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {name: _hidden(each, known) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(each, known) for each in value]
    if not isinstance(value, str):
        return value
    for secret in known:
        value = value.replace(secret, HIDDEN)
    return SECRETS.sub(lambda match: f"{next(filter(None, match.groups()), '')}{HIDDEN}", value)


def event(logger: logging.Logger, what: str, **fields: Any) -> None:
    """Log an event, with its facts as fields of the line."""
    logger.info(what, extra={"fields": fields})


@contextmanager
def bind(**fields: Any) -> Iterator[None]:
    """Have every line that is logged in the block, threads that it starts included, bear these fields."""
    with bound_contextvars(**fields):
        yield


def current_request() -> str | None:
    """Return the id of the request that is being answered, None outside of one."""
    request_id: str | None = get_contextvars().get("request_id")
    return request_id


# Figures of what the processes of a server do, for Prometheus; `app.web.ops` answers with them.
#
# Counters and histograms are of all processes that one `plumbline serve` starts: each keeps its own in the folder of
# PROMETHEUS_MULTIPROC_DIR, and whoever is asked adds them up. A process that runs alone has only its own. Names of
# benchmarks that are not public are in no label: whoever reads the figures need have no token.

FOLDER = "PROMETHEUS_MULTIPROC_DIR"

NOT_PUBLIC = "(not public)"

RESERVED_BYTES = 1 << 20

REGISTRY = CollectorRegistry()


def _reserve() -> None:
    """Take the room of this process's files now: the system ends a process that writes to a mapped file on a full disk.

    The library makes them sparse, and takes what it finds.
    """
    if FOLDER not in os.environ or not hasattr(os, "posix_fallocate"):
        return
    for kind in ("counter", "histogram"):
        path = Path(os.environ[FOLDER]) / f"{kind}_{os.getpid()}.db"
        with suppress(OSError), path.open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVED_BYTES)


_reserve()

POST_TO_BOARD_S = Histogram(
    "plumbline_post_to_board_seconds",
    "From the receipt of a submission to the first snapshot that shows it",
    buckets=(0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200),
    registry=REGISTRY,
)

PUBLICATIONS = Counter("plumbline_publications", "Publications that were stored", ["benchmark"], registry=REGISTRY)

PUBLICATION_FAILURES = Counter(
    "plumbline_publication_failures", "Publications that ended in a fault", ["benchmark"], registry=REGISTRY
)

PUBLICATION_S = Histogram(
    "plumbline_publication_seconds",
    "Time of one publication",
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800),
    registry=REGISTRY,
)

REFUSALS = Counter("plumbline_refusals", "Requests that were refused, by reason", ["reason"], registry=REGISTRY)

# A rate does not see the first event of a series that begins with it: what an alert asks for is there from the start.
for alerted in ("Fault", "Database", "DiskFull"):
    REFUSALS.labels(alerted)

CHECKS_FAILED = Counter(
    "plumbline_checks_failed", "Rules of admission that kept a stored submission off the boards", ["rule"],
    registry=REGISTRY,
)  # fmt: skip

ROUTE = "plumbline.route"
"""Where the scope of a request has the list to which the route that answers adds its name."""

REQUESTS = Counter(
    "plumbline_requests", "Requests answered, by route, method and status; `page`: published pages, kept or rendered",
    ["route", "method", "status"], registry=REGISTRY,
)  # fmt: skip

REQUEST_S = Histogram(
    "plumbline_request_seconds",
    "From the head of a request to the first byte of its answer",
    ["route"],
    buckets=(0.01, 0.05, 0.25, 1, 5, 30),
    registry=REGISTRY,
)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def count_request(scope: Mapping[str, Any], status: int, seconds: float) -> None:
    """Count an answer by the route that gave it, of those that there are: a stranger adds no label."""
    route = next(iter(scope[ROUTE]), "none" if status == 404 else "page")
    method = scope["method"] if scope["method"] in METHODS else "other"
    REQUESTS.labels(route, method, status).inc()
    REQUEST_S.labels(route).observe(seconds)


PAGES = {"kept": 0, "old": 0, "rendered": 0}
"""Published pages that this web process answered: kept, kept and marked stale, rendered. Plain numbers: a kept page
takes microseconds."""

Gauges = Mapping[str, tuple[str, str | None, Mapping[str, float]]]
"""By name: what it says, the name of its label if it has one, and its values by the label's."""


def of_processes() -> Mapping[str, tuple[float, float, float]]:
    """Return the bytes of memory, processor seconds and open files of what `plumbline serve` runs, by what it is.

    Of a process that nobody supervises its own alone; readers and renderers count with the process that started them.
    """
    own = psutil.Process()
    supervisor = own.parent()
    if supervisor is None or "--supervised" not in own.cmdline():
        return {"web": _taken([own])}
    found = {"serve": _taken([supervisor])}
    for child in supervisor.children():
        with suppress(psutil.Error):
            command = child.cmdline()
            name = command[command.index("app.cli") + 1] if "app.cli" in command else child.name()
            taken = _taken([child, *child.children(recursive=True)])
            found[name] = tuple(map(sum, zip(found.get(name, (0, 0, 0)), taken, strict=True)))  # type: ignore[assignment]
    return found


def _taken(processes: Iterable[psutil.Process]) -> tuple[float, float, float]:
    n_bytes, seconds, files = 0.0, 0.0, 0.0
    for process in processes:
        with suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            n_bytes += _memory_of(process)
            seconds += times.user + times.system
            files += process.num_fds()
    return n_bytes, seconds, files


def _memory_of(process: psutil.Process) -> float:
    """Return the bytes that a process holds, a page that n of them share as an nth (PSS), where the system says it."""
    with suppress(psutil.AccessDenied, AttributeError):
        return float(process.memory_full_info().pss)
    return float(process.memory_info().rss)


class _Observed(Collector):
    """Gauges as they are at the moment of the scrape."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def collect(self) -> Iterable[Metric]:
        for name, (says, label, values) in self._gauges.items():
            family = GaugeMetricFamily(name, says, labels=[label] if label else [])
            for value_of, value in values.items():
                family.add_metric([value_of] if label else [], value)
            yield family


def render(gauges: Gauges) -> bytes:
    """Return all figures in Prometheus' text form: what was counted, and these gauges."""
    asked = CollectorRegistry()
    asked.register(_Observed(gauges))
    if folder := os.environ.get(FOLDER):
        MultiProcessCollector(asked)  # type: ignore[no-untyped-call]
        with alone(Path(folder)):
            return generate_latest(asked)
    return generate_latest(asked) + generate_latest(REGISTRY)


# The figures of processes that have ended: added up in one file of each kind, so that restarts fill no folder.
#
# Each process of a server keeps its counters in files of its own, which must be counted for as long as the server
# runs, and a worker that ends at every start would leave thousands of them.

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


# Traces for a collector, where PLUMBLINE_TRACING asks for them: a span for each request and for each job. The extra
# `otel` brings the SDK and its exporter, which takes its settings from the standard's own variables
# (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_RESOURCE_ATTRIBUTES, …). Without it there are no spans, at no cost: the interface
# alone comes with the framework.

CARRIED = "traceparent"


def install(process: str) -> None:
    """Have spans of this process exported. Raises SettingsError where the extra is not installed."""
    try:
        sdk, resources, export, otlp = (
            import_module(f"opentelemetry.{name}")
            for name in ("sdk.trace", "sdk.resources", "sdk.trace.export", "exporter.otlp.proto.http.trace_exporter")
        )
    except ImportError:
        raise SettingsError("PLUMBLINE_TRACING needs the extra otel: install the wheel with [otel].") from None
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": f"plumbline-{process}"}))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def carried() -> str | None:
    """Return the text that hands a job the trace that asked for it, None outside of one."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier.get(CARRIED)


@contextmanager
def job_span(name: str, asked_in: str | None, **attributes: Any) -> Iterator[None]:
    """Have the block be a span of the trace that asked for it."""
    context = propagate.extract({} if asked_in is None else {CARRIED: asked_in})
    described = {f"plumbline.{key}": value for key, value in attributes.items() if value is not None}
    with trace.get_tracer("plumbline").start_as_current_span(name, context=context, attributes=described):
        yield
