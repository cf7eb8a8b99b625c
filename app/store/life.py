"""Changes of a benchmark outside its manifest: title, description and retirement.

Called by `app.store.benchmarks`, `app.web.life` and where an upload is received.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ScalarSelect, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import BenchmarkChange, ManifestVersion
from app.errors import Conflict


@dataclass(frozen=True)
class Retirement:
    """Since when a benchmark takes no more submissions, and why."""

    at: datetime
    reason: str


def newest_text(column: InstrumentedAttribute[str | None]) -> ScalarSelect[Any]:
    """Return, as part of a query of manifest versions, the newest text that a version was given."""
    query = select(column).where(BenchmarkChange.manifest_version_id == ManifestVersion.id, column.is_not(None))
    return query.order_by(BenchmarkChange.id.desc()).limit(1).correlate(ManifestVersion).scalar_subquery()


def find_retirement(session: Session, benchmark_id: int) -> Retirement | None:
    """Return since when and why a benchmark is retired; None where it is not."""
    query = select(BenchmarkChange.at, BenchmarkChange.retired_because)
    of_it = (BenchmarkChange.benchmark_id == benchmark_id, BenchmarkChange.retired_because.is_not(None))
    row = session.execute(query.where(*of_it).limit(1)).one_or_none()
    return None if row is None else Retirement(row.at, row.retired_because)


def list_retired(session: Session) -> Mapping[int, Retirement]:
    """Return since when and why benchmarks are retired, by their numbers."""
    query = select(BenchmarkChange.benchmark_id, BenchmarkChange.at, BenchmarkChange.retired_because)
    rows = session.execute(query.where(BenchmarkChange.retired_because.is_not(None)))
    return {number: Retirement(at, reason or "") for number, at, reason in rows}


def shown_retirement(retirement: Retirement | None) -> dict[str, Any]:
    """Return the key `retired` of a document, which only a retired benchmark has."""
    return {} if retirement is None else {"retired": {"at": retirement.at.isoformat(), "reason": retirement.reason}}


def refuse_retired(session: Session, benchmark_id: int, slug: str) -> None:
    """Raise Conflict when a benchmark takes no more submissions."""
    retirement = find_retirement(session, benchmark_id)
    if retirement is not None:
        raise Conflict(
            f"{slug} is retired since {retirement.at:%Y-%m-%d} and takes no submissions: {retirement.reason}"
        )


def retire(session: Session, version: ManifestVersion, slug: str, reason: str, by_id: int) -> None:
    """Retire a benchmark, so that it takes no more submissions; the caller holds the lock.

    Raises Conflict if it is retired.
    """
    refuse_retired(session, version.benchmark_id, slug)
    change = {"benchmark_id": version.benchmark_id, "manifest_version_id": version.id, "by_id": by_id}
    session.add(BenchmarkChange(**change, retired_because=reason))
    session.flush()


def rename(session: Session, version: ManifestVersion, title: str | None, description: str | None, by_id: int) -> None:
    """Change the title or description of a version of a manifest; None leaves it unchanged."""
    change = {"benchmark_id": version.benchmark_id, "manifest_version_id": version.id, "by_id": by_id}
    session.add(BenchmarkChange(**change, title=title, description=description))
    session.flush()
