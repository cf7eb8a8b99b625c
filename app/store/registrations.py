"""Every registration of a benchmark with its outcome, including those never reported.

The denominator of a benchmark: every registration with its outcome, including those never reported. No statistics,
only registrations and their outcomes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ScalarSelect, func, or_, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, EntrantReservation, PreregAttestation, PreregBinding, StoredPrereg, Submission, Token
from app.errors import PreregRejected
from app.names import count
from app.prereg.prereg import parse_prereg
from app.store import reservations
from app.store.benchmarks import Declared
from app.values.table import Cell, Column, Table

OUTCOMES = ("reported", "not_admitted", "withdrawn", "awaited", "overdue", "never_reported", "reported_by_other")

REPORTED = frozenset({"received", "evaluated", "published", "superseded"})

COLUMNS = (
    Column("prereg", "Preregistration", "text", glossary="prereg"),
    Column("outcome", "Outcome", "text", glossary="registration_outcome"),
    Column("registered_by", "Registered by", "text"),
    Column("registered_at", "Registered", "time"),
    Column("attested_at", "Attested for", "time", glossary="attested"),
    Column("due_at", "Due", "time", glossary="registration_outcome"),
    Column("form", "Form", "text"),
    Column("run_purpose", "Run purpose", "text", glossary="run_purpose"),
    Column("n_submissions", "Submissions", "integer"),
    Column("submission", "Latest submission", "integer"),
    Column("submitted_by", "Submitted by", "text"),
    Column("reserved", "Reserved names", "text", glossary="reserved"),
    Column("reserved_until", "Reserved until", "time", glossary="reserved"),
)

BY_SUBMITTER = (
    Column("registered_by", "Registered by", "text"),
    Column("n_registered", "Registered", "integer", glossary="registration_outcome"),
    Column("n_reported", "Reported", "integer", glossary="registration_outcome"),
    Column("n_not_admitted", "Not admitted", "integer", glossary="registration_outcome"),
    Column("n_withdrawn", "Withdrawn", "integer", glossary="registration_outcome"),
    Column("n_awaited", "Awaited", "integer", glossary="registration_outcome"),
    Column("n_overdue", "Overdue", "integer", glossary="registration_outcome"),
    Column("n_never_reported", "Never reported", "integer", glossary="registration_outcome"),
    Column("n_reported_by_other", "Reported by another", "integer", glossary="registration_outcome"),
)


@dataclass(frozen=True)
class RegistrationStatus:
    """One registration of a benchmark, the submissions that cite it, and when its report is due.

    `submitters` names who made each of the submissions, `reserved` are the names that it keeps now.
    """

    prereg: StoredPrereg
    registrant: str
    attested_at: datetime | None
    submissions: Sequence[Submission]
    submitters: Sequence[str]
    due_at: datetime | None
    reserved: Sequence[EntrantReservation] = ()

    def outcome(self, now: datetime) -> str:
        """Return its outcome: a report counts whatever its later status, and no report counts as none.

        What others submit under it is no report by its registrant. Overdue becomes never reported when twice the time
        has passed.
        """
        own = {s.status for s in self.submissions if s.token_id == self.prereg.registered_by}
        if self._is_report(own):
            return "reported"
        for state in ("withdrawn", "not_admitted"):
            if state in own:
                return state
        if self._is_report({submission.status for submission in self.submissions}):
            return "reported_by_other"
        if self.due_at is None or now <= self.due_at:
            return "awaited"
        return "overdue" if now <= self.due_at + (self.due_at - self.prereg.registered_at) else "never_reported"

    def _is_report(self, states: Set[str]) -> bool:
        return bool(states & REPORTED or (states and self.prereg.run_purpose != "leaderboard"))


def list_registrations(session: Session, declared: Declared) -> list[RegistrationStatus]:
    """Return every registration for the benchmark, or cited by a submission to it, the newest first."""
    benchmark = declared.benchmark
    bound = select(PreregBinding.prereg_sha256).where(PreregBinding.benchmark == benchmark.slug)
    cited = select(Submission.prereg_sha256).where(Submission.benchmark_id == benchmark.id)
    query = (
        select(StoredPrereg, Token.name, _attested(benchmark.slug))
        .join(Token, Token.id == StoredPrereg.registered_by)
        .where(or_(StoredPrereg.sha256.in_(bound), StoredPrereg.sha256.in_(cited)))
        .order_by(StoredPrereg.registered_at.desc(), StoredPrereg.sha256)
    )
    days = declared.manifest.admission.report_within_days
    citing = _by_prereg(session, benchmark.id)
    reserved = reservations.open_names(session, benchmark.slug)
    return [
        RegistrationStatus(
            prereg=prereg,
            registrant=name,
            attested_at=attested_at,
            submissions=[submission for submission, _ in citing.get(prereg.sha256, ())],
            submitters=[submitter for _, submitter in citing.get(prereg.sha256, ())],
            due_at=None if days is None else prereg.registered_at + timedelta(days=days),
            reserved=reserved.get(prereg.sha256, ()),
        )
        for prereg, name, attested_at in session.execute(query)
    ]


def count_unbound(session: Session, registrations: Sequence[RegistrationStatus]) -> int:
    """Return how many registrations the same submitters made for no benchmark and never cited."""
    registrants = {registered.prereg.registered_by for registered in registrations}
    bound = select(PreregBinding.prereg_sha256)
    cited = select(Submission.prereg_sha256).where(Submission.prereg_sha256.is_not(None))
    query = select(func.count()).where(
        StoredPrereg.registered_by.in_(registrants),
        StoredPrereg.sha256.not_in(bound),
        StoredPrereg.sha256.not_in(cited),
    )
    return session.scalars(query).one()


def registrations_table(
    declared: Declared, registrations: Sequence[RegistrationStatus], now: datetime, n_unbound: int = 0
) -> Table:
    """Return every registration with its outcome; `n_unbound` more of these submitters are for no benchmark."""
    rows = tuple(_row(registered, now) for registered in registrations)
    reported = sum(registered.outcome(now) == "reported" for registered in registrations)
    notes = [f"{count(len(registrations), 'registration')}, {reported} reported."]
    if n_unbound:
        more = count(n_unbound, "registration")
        notes.append(f"{more} of these submitters name{'s' if n_unbound == 1 else ''} no benchmark.")
    return Table("registrations", f"Registrations of {declared.manifest.title}", COLUMNS, rows, tuple(notes))


def submitters_table(declared: Declared, registrations: Sequence[RegistrationStatus], now: datetime) -> Table:
    """Return, for each submitter, how many runs were registered and their outcomes."""
    outcomes: dict[str, Counter[str]] = {}
    for registered in registrations:
        outcomes.setdefault(registered.registrant, Counter())[registered.outcome(now)] += 1
    rows: list[tuple[Cell, ...]] = [
        (name, counts.total(), *(counts[outcome] for outcome in OUTCOMES)) for name, counts in sorted(outcomes.items())
    ]
    return Table("submitters", f"Who registered for {declared.manifest.title}", BY_SUBMITTER, tuple(rows))


def _row(registered: RegistrationStatus, now: datetime) -> tuple[Cell, ...]:
    prereg = registered.prereg
    latest = max((submission.id for submission in registered.submissions), default=None)
    return (
        prereg.sha256,
        registered.outcome(now),
        registered.registrant,
        prereg.registered_at.isoformat(),
        registered.attested_at.isoformat() if registered.attested_at else None,
        registered.due_at.isoformat() if registered.due_at else None,
        prereg.form,
        prereg.run_purpose,
        len(registered.submissions),
        latest,
        ", ".join(dict.fromkeys(registered.submitters)) or None,
        ", ".join(kept.name for kept in registered.reserved) or None,
        min(kept.until for kept in registered.reserved).isoformat() if registered.reserved else None,
    )


def _attested(slug: str) -> ScalarSelect[datetime]:
    counts = or_(PreregAttestation.benchmark.is_(None), PreregAttestation.benchmark == slug)
    return (
        select(func.min(PreregAttestation.registered_at))
        .where(PreregAttestation.prereg_sha256 == StoredPrereg.sha256, counts)
        .scalar_subquery()
    )


def _by_prereg(session: Session, benchmark_id: int) -> dict[str, list[tuple[Submission, str]]]:
    query = (
        select(Submission, Token.name)
        .join(Token, Token.id == Submission.token_id)
        .where(Submission.benchmark_id == benchmark_id, Submission.prereg_sha256.is_not(None))
        .order_by(Submission.id)
    )
    submissions: dict[str, list[tuple[Submission, str]]] = {}
    for submission, name in session.execute(query):
        submissions.setdefault(submission.prereg_sha256 or "", []).append((submission, name))
    return submissions


# Registrations that name an entrant but were never reported.

MOST_READ = 100
"""The newest silent registrations of a benchmark are looked through; the page of registrations has all of them."""

UNREPORTED_COLUMNS = (
    Column("prereg", "Preregistration", "text", glossary="prereg"),
    Column("registered_by", "Registered by", "text"),
    Column("registered_at", "Registered", "time"),
    Column("due_at", "Due", "time", glossary="registration_outcome"),
    Column("run_purpose", "Run purpose", "text", glossary="run_purpose"),
)


def unreported_table(session: Session, declared: Declared, entrant: Entrant) -> Table:
    """Return the registrations that name an entrant and under which nobody has submitted anything, the newest first.

    Whether one is overdue depends on the clock, and a page is kept: it shows when the report was due.
    """
    silent = [each for each in list_registrations(session, declared) if not each.submissions][:MOST_READ]
    rows = tuple(
        (
            each.prereg.sha256,
            each.registrant,
            each.prereg.registered_at.isoformat(),
            _due(each),
            each.prereg.run_purpose,
        )
        for each in silent
        if entrant.name in _entrants(each.prereg)
    )
    return Table("unreported", f"Registrations of {entrant.name} without a report", UNREPORTED_COLUMNS, rows)


def _due(registered: RegistrationStatus) -> str | None:
    return None if registered.due_at is None else registered.due_at.isoformat()


def _entrants(prereg: StoredPrereg) -> Iterator[str]:
    # What was registered could be read then; a later version of the program may read less.
    with suppress(PreregRejected):
        yield from parse_prereg(prereg.yaml).entrants or ()
