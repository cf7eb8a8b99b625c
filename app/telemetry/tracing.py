"""Traces for a collector, where PLUMBLINE_TRACING asks for them: a span for each request and for each job.

Called by `app.cli.observing` and `app.jobs.queue`. The extra `otel` brings the SDK and its exporter, which takes its
settings from the standard's own variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_RESOURCE_ATTRIBUTES, …). Without it there
are no spans, at no cost: the interface alone comes with the framework.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from opentelemetry import propagate, trace

from app.errors import SettingsError

CARRIED = "traceparent"


def install(process: str) -> None:
    """Have spans of this process exported. Raises SettingsError where the extra is not installed."""
    try:
        sdk, resources, export, otlp = (
            import_module(f"opentelemetry.{name}")
            for name in ("sdk.trace", "sdk.resources", "sdk.trace.export", "exporter.otlp.proto.http.trace_exporter")
        )
    except ImportError:
        raise SettingsError("PLUMBLINE_TRACING needs the extra otel: pip install 'plumbline[otel]'.") from None
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
