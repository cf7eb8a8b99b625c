"""Preregistrations: bytes that never change, the time the server first saw them, what stewards attest, and what became
of each, those never reported included: the denominator of a benchmark. Outcomes and claims are read from what
`app.jobs.evaluate` stored, never from rows of evidence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, ScalarSelect, Text, cast, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from app.admission.case import Registered, TokenHolder
from app.admission.forensics import ALIKE_SHARE
from app.boards.provenance import COPIED
from app.cache import Cache, digest
from app.db.models import (
    Benchmark,
    Entrant,
    EntrantReservation,
    Entry,
    PreregAttestation,
    PreregBinding,
    StoredFingerprint,
    StoredPrereg,
    Submission,
    SubmissionEvent,
    SubmissionTable,
    Token,
)
from app.errors import Forbidden, NotFound, PreregRejected
from app.names import count
from app.prereg.fields import Prereg as ParsedPrereg
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.store import reservations
from app.store.benchmarks import Declared
from app.store.sql import one_of
from app.values.fingerprints import shared_contents
from app.values.table import Cell, Column, Table


def register_prereg(
    session: Session, yaml: bytes, parsed: ParsedPrereg, token_id: int, embargo_until: datetime | None = None
) -> tuple[StoredPrereg, bool]:
    """Store a preregistration and say whether it is new; known bytes keep their first registration."""
    sha256 = sha256_hex(yaml)
    prereg = session.scalar(
        insert(StoredPrereg)
        .values(
            sha256=sha256,
            git_blob_sha1=git_blob_sha1(yaml),
            yaml=yaml,
            form=parsed.form,
            run_purpose=parsed.run_purpose,
            registered_by=token_id,
            embargo_until=embargo_until,
        )
        .on_conflict_do_nothing(index_elements=["sha256"])
        .returning(StoredPrereg)
    )
    if prereg is None:
        return find_prereg(session, sha256), False
    if parsed.benchmark is not None:
        _bind(session, sha256, parsed.benchmark, token_id)
    return prereg, True


def bind_prereg(session: Session, prereg: StoredPrereg, benchmark: str, token_id: int) -> bool:
    """Register a preregistration for a benchmark from now on, and say whether that is new.

    Raises Forbidden for somebody else's, because it would count for its registrant.
    """
    if benchmark in [binding.benchmark for binding in list_bindings(session, prereg.sha256)]:
        return False
    if prereg.registered_by != token_id:
        raise Forbidden(f"Only who registered a preregistration may register it for a benchmark, here {benchmark}.")
    _bind(session, prereg.sha256, benchmark, token_id)
    return True


def _bind(session: Session, sha256: str, benchmark: str, token_id: int) -> None:
    """Bind from the time of this transaction on, which is that of a registration in it: no second begins in between."""
    binding = {"prereg_sha256": sha256, "benchmark": benchmark, "bound_by": token_id}
    session.execute(insert(PreregBinding).values(binding).on_conflict_do_nothing())


def list_bindings(session: Session, sha256: str) -> Sequence[PreregBinding]:
    """Return the benchmarks that a preregistration is for, and since when, the oldest first."""
    query = select(PreregBinding).where(PreregBinding.prereg_sha256 == sha256)
    return session.scalars(query.order_by(PreregBinding.bound_at, PreregBinding.benchmark)).all()


def find_prereg(session: Session, sha256: str) -> StoredPrereg:
    """Return a preregistration by the SHA-256 of its bytes. Raises NotFound."""
    prereg = session.get(StoredPrereg, sha256)
    if prereg is None:
        raise NotFound(f"There is no preregistration with SHA-256 {sha256[:64]}.")
    return prereg


MOST_OWN = 50


def list_own(session: Session, slug: str, token_id: int) -> Sequence[StoredPrereg]:
    """Return what somebody registered for a benchmark, the newest first."""
    query = select(StoredPrereg).join(PreregBinding, PreregBinding.prereg_sha256 == StoredPrereg.sha256)
    query = query.where(PreregBinding.benchmark == slug, PreregBinding.bound_by == token_id)
    return session.scalars(query.order_by(StoredPrereg.registered_at.desc()).limit(MOST_OWN)).all()


def load_registration(session: Session, sha256: str, slug: str | None = None) -> Registered:
    """Return a preregistration with the earliest time that counts for it, in a benchmark or anywhere.

    Raises NotFound.
    """
    stored = find_prereg(session, sha256)
    counting = [each for each in list_attestations(session, sha256) if each.benchmark in (None, slug)]
    attested = [attestation.registered_at for attestation in counting]
    bindings = {binding.benchmark: binding.bound_at for binding in list_bindings(session, sha256)}
    earliest = min([stored.registered_at, *attested])
    registrant = session.get_one(Token, stored.registered_by)
    return Registered(
        sha256,
        stored.git_blob_sha1,
        parse_stored(stored.yaml),
        earliest,
        attested=earliest < stored.registered_at,
        benchmarks=tuple(bindings),
        by=TokenHolder(registrant.id, registrant.name),
        bound_at=bindings,
    )


def load_parsed(session: Session, sha256s: Iterable[str]) -> dict[str, ParsedPrereg]:
    """Return preregistrations by the SHA-256 of their bytes, in one statement however many they are."""
    wanted = set(sha256s)
    if not wanted:
        return {}
    query = select(StoredPrereg.sha256, StoredPrereg.yaml).where(one_of(StoredPrereg.sha256, wanted))
    return {sha256: parse_stored(yaml) for sha256, yaml in session.execute(query)}


PARSED: Cache[ParsedPrereg] = Cache(64 << 20)
"""Over 3,000 of 4 KiB each."""

PARSED_FACTOR = 5
"""A value takes up to so many times the memory of its YAML."""


def parse_stored(yaml: bytes) -> ParsedPrereg:
    """Return a preregistration as a value; the bytes never change, and reading YAML takes longer than fetching it."""
    key = digest(yaml)
    parsed = PARSED.get(key)
    if parsed is None:
        parsed = parse_prereg(yaml)
        PARSED.keep(key, parsed, PARSED_FACTOR * len(yaml))
    return parsed


def attest(
    session: Session, sha256: str, registered_at: datetime, evidence: str, by_id: int, benchmark: str | None
) -> PreregAttestation:
    """Record a steward's word for an earlier registration, in a benchmark or, None, in all of them. Raises NotFound."""
    attestation = PreregAttestation(
        prereg_sha256=find_prereg(session, sha256).sha256,
        registered_at=registered_at,
        evidence=evidence,
        attested_by=by_id,
        benchmark=benchmark,
    )
    session.add(attestation)
    session.flush()
    return attestation


def list_attestations(session: Session, sha256: str) -> Sequence[PreregAttestation]:
    """Return what stewards attest of a preregistration, the oldest first."""
    query = select(PreregAttestation).where(PreregAttestation.prereg_sha256 == sha256)
    return session.scalars(query.order_by(PreregAttestation.id)).all()


def list_citing(session: Session, sha256: str) -> Sequence[Submission]:
    """Return the submissions that cite a preregistration, the newest first."""
    query = select(Submission).where(Submission.prereg_sha256 == sha256)
    return session.scalars(query.order_by(Submission.id.desc())).all()


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

    def is_under_embargo(self, now: datetime) -> bool:
        """Say whether few may read it yet; the first submission that cites it ends that, too."""
        until = self.prereg.embargo_until
        return until is not None and until > now and not self.submissions

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


def is_registered_or_cited(benchmark: Benchmark) -> ColumnElement[bool]:
    """Return the condition that a preregistration is registered for a benchmark, or cited by a submission to it."""
    bound = select(PreregBinding.prereg_sha256).where(PreregBinding.benchmark == benchmark.slug)
    cited = select(Submission.prereg_sha256).where(Submission.benchmark_id == benchmark.id)
    return or_(StoredPrereg.sha256.in_(bound), StoredPrereg.sha256.in_(cited))


def list_registrations(session: Session, declared: Declared) -> list[RegistrationStatus]:
    """Return every registration for the benchmark, or cited by a submission to it, the newest first."""
    benchmark = declared.benchmark
    query = (
        select(StoredPrereg, Token.name, _attested(benchmark.slug))
        .join(Token, Token.id == StoredPrereg.registered_by)
        .where(is_registered_or_cited(benchmark))
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


STATUSES = ("current", "superseded", "withdrawn")
CURRENT, GONE = STATUSES[0], STATUSES[-1]


@dataclass(frozen=True)
class Decided:
    """An admitted submission: the claims that it decided alone, and the status of each of its entrants."""

    submission_id: int
    prereg_sha256: str | None
    claims: Sequence[Mapping[str, Cell]]
    states: Mapping[str, str]

    @property
    def status(self) -> str:
        """The status of the submission: it is current while it is the evidence of any of its entrants."""
        return best(self.states.values())

    def status_of(self, claim: Mapping[str, Cell]) -> str:
        """Return the status of one of its claims: the worst of the entrants that the claim is about."""
        named = [str(claim[column]) for column in ("entrant", "first", "second")]
        return worst([self.states[name] for name in named if name in self.states] or [self.status])


def best(states: Iterable[str]) -> str:
    """Return the first of the states on the way from current to withdrawn."""
    return min(states, key=STATUSES.index)


def worst(states: Iterable[str]) -> str:
    """Return the last of the states on the way from current to withdrawn."""
    return max(states, key=STATUSES.index)


def list_decided(session: Session, benchmark_id: int, left_out: Set[int] = frozenset()) -> list[Decided]:
    """Return every submission that was admitted to a benchmark, also former ones, the oldest first.

    Those that were set aside, or are to be left out, are not among them.
    """
    admitted = select(SubmissionEvent.submission_id).where(SubmissionEvent.status == "evaluated")
    query = (
        select(Submission.id, Submission.prereg_sha256, SubmissionTable.content)
        .outerjoin(
            SubmissionTable, (SubmissionTable.submission_id == Submission.id) & (SubmissionTable.name == "claims")
        )
        .where(Submission.benchmark_id == benchmark_id, Submission.id.in_(admitted), ~one_of(Submission.id, left_out))
        .order_by(Submission.id)
    )
    states = _states(session, benchmark_id)
    return [
        Decided(number, prereg_sha256, _records(content), states[number])
        for number, prereg_sha256, content in session.execute(query)
        if number in states
    ]


def first_received(session: Session, benchmark_id: int, names: Set[str]) -> dict[str, tuple[datetime, str]]:
    """Return when admitted evidence of each of these entrants was first received, also if it is former by now.

    With the name that the entrant had: another's results of which its own raised a flag, the very same or those with as
    many rows in common as a flag takes, are its evidence.
    """
    admitted = select(SubmissionEvent.submission_id).where(SubmissionEvent.status == "evaluated")
    named = (Entrant.benchmark_id == benchmark_id, one_of(Entrant.name, names), Submission.id.in_(admitted))
    own = (
        select(Entrant.name, Submission.received_at)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == Entry.submission_id)
    )
    mine, same, other = StoredFingerprint, aliased(StoredFingerprint), aliased(Entrant)
    is_same = same.results == mine.results
    of_others = (
        select(Entrant.name, Submission.received_at, other.name, is_same, mine.contents, same.contents)
        .join(mine, mine.entrant_id == Entrant.id)
        .join(same, (is_same | same.contents.bool_op("&&")(mine.contents)) & (same.entrant_id != mine.entrant_id))
        .join(other, (other.id == same.entrant_id) & (other.benchmark_id == benchmark_id))
        .join(Submission, Submission.id == same.submission_id)
        .where(mine.flags.bool_op("&&")(cast(sorted(COPIED), ARRAY(Text))))
    )
    found = [(at, name, name) for name, at in session.execute(own.where(*named))]
    found += [
        (at, name, called)
        for name, at, called, is_equal, ours, theirs in session.execute(of_others.where(*named))
        if is_equal or shared_contents(ours, theirs) >= ALIKE_SHARE
    ]
    first: dict[str, tuple[datetime, str]] = {}
    for at, name, called in sorted(found):
        first.setdefault(name, (at, called))
    return first


def _records(content: Mapping[str, Any] | None) -> list[dict[str, Cell]]:
    return [] if content is None else list(Table.from_json(content).records())


def _states(session: Session, benchmark_id: int) -> dict[int, dict[str, str]]:
    query = (
        select(Entry.submission_id, Entrant.name, Entry.state)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, Entry.state.in_(STATUSES))
    )
    states: dict[int, dict[str, str]] = {}
    for number, name, state in session.execute(query):
        states.setdefault(number, {})[name] = state
    return states
