"""The denominator of a benchmark: every registration with what became of it, also of those that nobody reported.

Called by `app.web.registrations`. No statistics, only what was registered and what came of it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ScalarSelect, func, or_, select
from sqlalchemy.orm import Session

from app.db.models import Prereg, PreregAttestation, Submission, Token
from app.store.benchmarks import Declared
from app.table import Cell, Column, Table

OUTCOMES = ("reported", "not_admitted", "withdrawn", "awaited", "overdue", "never_reported")
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
)


@dataclass(frozen=True)
class Registered:
    """One registration of a benchmark, the submissions that cite it, and when its report is due."""

    prereg: Prereg
    submitter: str
    attested_at: datetime | None
    submissions: Sequence[Submission]
    due_at: datetime | None

    def outcome(self, now: datetime) -> str:
        """Return what became of it: a report counts however it ended later, silence counts as silence.

        Overdue becomes never reported when twice the time has passed.
        """
        states = {submission.status for submission in self.submissions}
        if states & REPORTED or (states and self.prereg.run_purpose != "leaderboard"):
            return "reported"
        for state in ("withdrawn", "not_admitted"):
            if state in states:
                return state
        if self.due_at is None or now <= self.due_at:
            return "awaited"
        return "overdue" if now <= self.due_at + (self.due_at - self.prereg.registered_at) else "never_reported"


def list_registrations(session: Session, declared: Declared) -> list[Registered]:
    """Return every registration that names the benchmark or is cited by a submission to it, the newest first."""
    benchmark = declared.benchmark
    cited = select(Submission.prereg_sha256).where(Submission.benchmark_id == benchmark.id)
    query = (
        select(Prereg, Token.name, _attested())
        .join(Token, Token.id == Prereg.registered_by)
        .where(or_(Prereg.benchmark == benchmark.slug, Prereg.sha256.in_(cited)))
        .order_by(Prereg.registered_at.desc(), Prereg.sha256)
    )
    days = declared.manifest.admission.report_within_days
    submissions = _by_prereg(session, benchmark.id)
    return [
        Registered(
            prereg=prereg,
            submitter=name,
            attested_at=attested_at,
            submissions=submissions.get(prereg.sha256, ()),
            due_at=None if days is None else prereg.registered_at + timedelta(days=days),
        )
        for prereg, name, attested_at in session.execute(query)
    ]


def registrations_table(declared: Declared, registrations: Sequence[Registered], now: datetime) -> Table:
    """Return every registration with its outcome."""
    rows = tuple(_row(registered, now) for registered in registrations)
    counts = Counter(registered.outcome(now) for registered in registrations)
    reported = counts["reported"]
    note = f"{len(registrations)} registrations, {reported} reported."
    return Table("registrations", f"Registrations of {declared.manifest.title}", COLUMNS, rows, (note,))


def submitters_table(declared: Declared, registrations: Sequence[Registered], now: datetime) -> Table:
    """Return, for each submitter, how many runs were registered and what became of them."""
    outcomes: dict[str, Counter[str]] = {}
    for registered in registrations:
        outcomes.setdefault(registered.submitter, Counter())[registered.outcome(now)] += 1
    rows: list[tuple[Cell, ...]] = [
        (name, counts.total(), *(counts[outcome] for outcome in OUTCOMES)) for name, counts in sorted(outcomes.items())
    ]
    return Table("submitters", f"Who registered for {declared.manifest.title}", BY_SUBMITTER, tuple(rows))


def _row(registered: Registered, now: datetime) -> tuple[Cell, ...]:
    prereg = registered.prereg
    latest = max((submission.id for submission in registered.submissions), default=None)
    return (
        prereg.sha256,
        registered.outcome(now),
        registered.submitter,
        prereg.registered_at.isoformat(),
        registered.attested_at.isoformat() if registered.attested_at else None,
        registered.due_at.isoformat() if registered.due_at else None,
        prereg.form,
        prereg.run_purpose,
        len(registered.submissions),
        latest,
    )


def _attested() -> ScalarSelect[datetime]:
    return (
        select(func.min(PreregAttestation.registered_at))
        .where(PreregAttestation.prereg_sha256 == Prereg.sha256)
        .scalar_subquery()
    )


def _by_prereg(session: Session, benchmark_id: int) -> dict[str, list[Submission]]:
    query = select(Submission).where(Submission.benchmark_id == benchmark_id, Submission.prereg_sha256.is_not(None))
    found: dict[str, list[Submission]] = {}
    for submission in session.scalars(query.order_by(Submission.id)):
        found.setdefault(submission.prereg_sha256 or "", []).append(submission)
    return found
