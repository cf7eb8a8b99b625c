"""The web processes that keep pages in memory, and which publications they may not show yet.

A submission is said to be published once the next read of every web process shows it. A publication notes, for each
web process with a heartbeat, the submissions that it publishes; the process takes them off when no older page of
the benchmark is served by it any more. One that stops beating is waited for no longer, and begins anew (`BEGIN`)
before it trusts what it has kept.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, cast, exists, func, literal, select, text
from sqlalchemy.dialects.postgresql import INTERVAL
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import Unshown, WebProcess
from app.store.sql import one_of

LEASE_S = 5.0
"""So long after its last heartbeat a web process is waited for; it trusts its pages for less (`TRUSTED_S`)."""

# Of the page cache, on a connection of its own. A process is entered while no publication is under way that has
# looked up the processes before: the lock waits for the publication's own on the rows, and none begins meanwhile.
BEGIN = (
    "LOCK TABLE public.web_process IN EXCLUSIVE MODE",
    "DELETE FROM public.web_process WHERE id = %(process)s OR seen_at < clock_timestamp() - interval '1 minute'",
    "INSERT INTO public.web_process (id) VALUES (%(process)s)",
)
BEAT = (
    "UPDATE public.web_process SET seen_at = clock_timestamp() "  # noqa: S608 - a constant
    f"WHERE id = %(process)s AND seen_at > clock_timestamp() - interval '{LEASE_S} seconds'"
)
UNSHOWN = (
    "SELECT slug, max(unshown.boards_version) FROM public.unshown "
    "JOIN public.benchmark ON benchmark.id = benchmark_id "
    "WHERE web_process_id = %(process)s GROUP BY slug"
)
# Of a publication: who keeps pages may show some that are older. Pages that are not public are not kept.
ENTER = text(
    "INSERT INTO unshown (submission_id, web_process_id, benchmark_id, boards_version) "  # noqa: S608 - a constant
    "SELECT number, process.id, benchmark.id, boards_version "
    "FROM benchmark, unnest(CAST(:numbers AS bigint[])) AS number, (SELECT id FROM web_process "
    f"WHERE seen_at > clock_timestamp() - interval '{LEASE_S} seconds' ORDER BY id FOR KEY SHARE) AS process "
    "WHERE benchmark.id = :benchmark AND visibility = 'public' ON CONFLICT DO NOTHING"
)
TAKE_OFF = text(
    "DELETE FROM unshown USING benchmark WHERE web_process_id = :process "
    "AND benchmark.id = benchmark_id AND slug = :slug AND unshown.boards_version <= :version"
)
LEAVE = text("DELETE FROM web_process WHERE id = :process")


def note_published(session: Session, benchmark_id: int, submission_ids: Collection[int]) -> None:
    """Note for every web process with a heartbeat that it may still serve pages without these submissions.

    Called last in a publication: it stores the benchmark's `boards_version` with them, which the publication raises.
    """
    session.execute(ENTER, {"numbers": sorted(submission_ids), "benchmark": benchmark_id})


def note_shown(session: Session, process: str, slug: str, boards_version: int) -> None:
    """Remember that a web process serves no page of a benchmark that is older than this state of its boards."""
    session.execute(TAKE_OFF, {"process": process, "slug": slug, "version": boards_version})


def leave(session: Session, process: str) -> None:
    """Remember that a web process has ended."""
    session.execute(LEAVE, {"process": process})


def _waited_for() -> Select[int]:
    """Return the submissions that some web process with a heartbeat may not show yet."""
    lease = cast(literal(f"{LEASE_S} seconds", Text), INTERVAL)
    query = select(Unshown.submission_id).join(WebProcess, WebProcess.id == Unshown.web_process_id)
    return query.where(WebProcess.seen_at > func.clock_timestamp() - lease)


def is_unshown(number: ColumnElement[Any] | InstrumentedAttribute[Any]) -> ColumnElement[bool]:
    """Return whether some web process with a heartbeat may not show a submission yet."""
    return exists(_waited_for().where(Unshown.submission_id == number))


def unshown(session: Session, submission_ids: Collection[int]) -> set[int]:
    """Return those of some submissions that some web process with a heartbeat may not show yet."""
    if not submission_ids:
        return set()
    return set(session.scalars(_waited_for().where(one_of(Unshown.submission_id, submission_ids))))


def status_said(status: str, *, is_unshown: bool) -> str:
    """Return the status of a submission as it is said: published once every web process shows it."""
    return "evaluated" if is_unshown and status == "published" else status
