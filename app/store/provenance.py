"""How often the owner of each entrant tried: registrations, entrants and submissions, counted at one instant.

Called by `app.jobs.publish`: shown in each row of a board, so that the best of many tries is recognisable as such.
"""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from app.boards.provenance import Provenance
from app.db.models import Benchmark, Entrant, Entry, Fingerprint, Prereg, PreregBinding, Submission
from app.store.publication_inputs import Inputs

ALL_TASKS: tuple[int | None, ...] = (None,)


def read_provenance(session: Session, inputs: Inputs) -> dict[str, Provenance]:
    """Return what is known of each current entrant, by its name."""
    benchmark = inputs.declared.benchmark
    flags = _flags(session, benchmark.id)
    attempts, of_prereg = _attempts(session, benchmark.id), _of_prereg(session, benchmark.id)
    owners = _owners(session, benchmark.id)
    registered, entrants, sent = (
        _registrations(session, benchmark), Counter[int | None](owners.values()), _sent(session, benchmark.id)
    )  # fmt: skip
    provenance = {}
    for name, stood in inputs.by_entrant().items():
        newest = stood[-1]
        owner = owners.get(newest.entrant_id)
        provenance[name] = Provenance(
            attempt=attempts[newest.submission_id, newest.entrant_id],
            attempt_of_prereg=of_prereg.get(newest.submission_id),
            owner=owner,
            n_registrations=registered[owner],
            n_entrants=entrants[owner],
            n_submissions=sent[owner],
            flags=tuple(dict.fromkeys(flag for s in stood for flag in flags.get((s.submission_id, s.entrant_id), ()))),
        )
    return provenance


def _flags(session: Session, benchmark_id: int) -> Mapping[tuple[int, int], list[str]]:
    query = (
        select(Fingerprint.submission_id, Fingerprint.entrant_id, Fingerprint.flags)
        .join(Entrant, Entrant.id == Fingerprint.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, func.cardinality(Fingerprint.flags) > 0)
    )
    return {(number, entrant): flags for number, entrant, flags in session.execute(query)}


def _attempts(session: Session, benchmark_id: int) -> Mapping[tuple[int, int], int]:
    """Number the submissions of each entrant, those of the same tasks where every task is a run of its own."""
    query = (
        select(Entry.submission_id, Entry.entrant_id, Entry.task_ids)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id)
        .order_by(Entry.submission_id)
    )
    counts: Counter[tuple[int, int | None]] = Counter()
    numbers = {}
    for submission_id, entrant_id, tasks in session.execute(query):
        asked = [(entrant_id, task) for task in (tasks or ALL_TASKS)]
        counts.update(asked)
        numbers[submission_id, entrant_id] = max(counts[each] for each in asked)
    return numbers


def _of_prereg(session: Session, benchmark_id: int) -> Mapping[int, int]:
    """Number the submissions under each registration, from 1."""
    number = func.row_number().over(partition_by=Submission.prereg_sha256, order_by=Submission.id)
    query = select(Submission.id, number).where(
        Submission.benchmark_id == benchmark_id, Submission.prereg_sha256.is_not(None)
    )
    numbers: dict[int, int] = dict(session.execute(query).all())
    return numbers


def _owners(session: Session, benchmark_id: int) -> Mapping[int, int]:
    query = select(Entrant.id, Entrant.owner_id).where(Entrant.owner_id.is_not(None))
    rows = session.execute(query.where(Entrant.benchmark_id == benchmark_id))
    return {entrant: owner for entrant, owner in rows if owner is not None}


def _registrations(session: Session, benchmark: Benchmark) -> Counter[int | None]:
    """Count by registrant what was registered for the benchmark, or cited by a submission to it."""
    bound = select(PreregBinding.prereg_sha256).where(PreregBinding.benchmark == benchmark.slug)
    cited = select(Submission.prereg_sha256).where(
        Submission.benchmark_id == benchmark.id, Submission.prereg_sha256.is_not(None)
    )
    query = select(Prereg.registered_by, func.count()).where(or_(Prereg.sha256.in_(bound), Prereg.sha256.in_(cited)))
    return Counter(dict(session.execute(query.group_by(Prereg.registered_by)).all()))


def _sent(session: Session, benchmark_id: int) -> Counter[int | None]:
    query = select(Submission.token_id, func.count()).where(Submission.benchmark_id == benchmark_id)
    return Counter(dict(session.execute(query.group_by(Submission.token_id)).all()))
