"""Figures of what the processes of a server do, for Prometheus; `app.web.ops` answers with them.

Counters and histograms are of all processes that one `plumbline serve` starts: each keeps its own in the folder of
PROMETHEUS_MULTIPROC_DIR, and whoever is asked adds them up. A process that runs alone has only its own. Names of
benchmarks that are not public are in no label: whoever reads the figures need have no token.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.telemetry.ended import alone

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
PAGES = {"kept": 0, "old": 0, "rendered": 0}
"""Published pages that this web process answered: kept, kept and marked stale, rendered. Plain numbers: a kept page
takes microseconds."""

Gauges = Mapping[str, tuple[str, str | None, Mapping[str, float]]]
"""By name: what it says, the name of its label if it has one, and its values by the label's."""


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
