"""One trace leads from a request through the queue to the worker's job."""

import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app import telemetry
from app.errors import SettingsError
from app.telemetry import carried, job_span


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What was exported, by a provider that is there for one test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_job_is_in_the_trace_that_asked_for_it(spans: InMemorySpanExporter) -> None:
    """What the request put beside the job is all that the worker has."""
    with trace.get_tracer("web").start_as_current_span("POST"):
        asked_in = carried()
    with job_span("refresh", asked_in, benchmark_id=7, asked_by=None):
        pass

    request, job = spans.get_finished_spans()
    assert job.context.trace_id == request.context.trace_id
    assert job.parent is not None
    assert job.parent.span_id == request.context.span_id
    assert dict(job.attributes or {}) == {"plumbline.benchmark_id": 7}


def test_outside_of_a_trace_nothing_is_carried() -> None:
    """Where nobody asked for traces a job says nothing of them."""
    assert carried() is None


def test_tracing_without_its_extra_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence says what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    with pytest.raises(SettingsError, match=r"needs the extra otel"):
        telemetry.install("web")
