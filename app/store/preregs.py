"""Preregistrations: bytes that never change, the time the server first saw them, and what stewards attest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import PreregAttestation, PreregBinding, StoredPrereg, Submission, Token
from app.errors import Forbidden, NotFound
from app.prereg.fields import Prereg as ParsedPrereg
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.store.sql import one_of


@dataclass(frozen=True)
class CheckedPrereg:
    """A preregistration as the admission checks see it.

    `registered_at` is the earliest time that counts; `attested` says that a steward vouches for it
    because the server saw the bytes only at `witnessed_at`. `benchmarks` are those it was registered for,
    `bound_at` says since when.
    """

    sha256: str
    git_blob_sha1: str
    prereg: ParsedPrereg
    witnessed_at: datetime
    registered_at: datetime
    attested: bool
    registered_by: Token
    benchmarks: tuple[str, ...]
    bound_at: Mapping[str, datetime]


@dataclass(frozen=True)
class Word:
    """A steward's attestation of a registration, and the benchmark where it counts; None: all of them."""

    registered_at: datetime
    evidence: str
    by_id: int
    benchmark: str | None


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


def load_registration(session: Session, sha256: str, slug: str | None = None) -> CheckedPrereg:
    """Return a preregistration with the time that counts for it, in a benchmark or anywhere. Raises NotFound."""
    stored = find_prereg(session, sha256)
    counting = [each for each in list_attestations(session, sha256) if each.benchmark in (None, slug)]
    attested = [attestation.registered_at for attestation in counting]
    bindings = {binding.benchmark: binding.bound_at for binding in list_bindings(session, sha256)}
    earliest = min([stored.registered_at, *attested])
    return CheckedPrereg(
        sha256=sha256,
        git_blob_sha1=stored.git_blob_sha1,
        prereg=parse_stored(stored.yaml),
        witnessed_at=stored.registered_at,
        registered_at=earliest,
        attested=earliest < stored.registered_at,
        registered_by=session.get_one(Token, stored.registered_by),
        benchmarks=tuple(bindings),
        bound_at=bindings,
    )


def load_parsed(session: Session, sha256s: Iterable[str]) -> dict[str, ParsedPrereg]:
    """Return preregistrations by the SHA-256 of their bytes, in one statement however many they are."""
    wanted = set(sha256s)
    if not wanted:
        return {}
    query = select(StoredPrereg.sha256, StoredPrereg.yaml).where(one_of(StoredPrereg.sha256, wanted))
    return {sha256: parse_stored(yaml) for sha256, yaml in session.execute(query)}


@lru_cache(maxsize=4096)
def parse_stored(yaml: bytes) -> ParsedPrereg:
    """Return a preregistration as a value; the bytes never change, and reading YAML takes longer than fetching it."""
    return parse_prereg(yaml)


def attest(session: Session, sha256: str, word: Word) -> PreregAttestation:
    """Record a steward's word for an earlier registration. Raises NotFound."""
    attestation = PreregAttestation(
        prereg_sha256=find_prereg(session, sha256).sha256,
        registered_at=word.registered_at,
        evidence=word.evidence,
        attested_by=word.by_id,
        benchmark=word.benchmark,
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
