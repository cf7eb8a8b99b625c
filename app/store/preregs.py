"""Preregistrations: bytes that never change, the time the server first saw them, and what stewards attest."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Prereg, PreregAttestation, Submission
from app.errors import NotFound
from app.prereg import Prereg as ParsedPrereg
from app.prereg import git_blob_sha1, parse_prereg, sha256_hex


@dataclass(frozen=True)
class Registration:
    """A preregistration as the admission checks see it.

    `registered_at` is the earliest time that counts; `attested` says that a steward vouches for it
    because the server saw the bytes only at `witnessed_at`.
    """

    sha256: str
    git_blob_sha1: str
    prereg: ParsedPrereg
    witnessed_at: datetime
    registered_at: datetime
    attested: bool


def register_prereg(
    session: Session, yaml: bytes, parsed: ParsedPrereg, token_id: int, benchmark: str | None = None
) -> tuple[Prereg, bool]:
    """Store a preregistration and say whether it is new; known bytes keep their first registration.

    `benchmark` is the one it is registered for, where its form does not name one.
    """
    sha256 = sha256_hex(yaml)
    made = session.scalar(
        insert(Prereg)
        .values(
            sha256=sha256,
            git_blob_sha1=git_blob_sha1(yaml),
            yaml=yaml,
            form=parsed.form,
            run_purpose=parsed.run_purpose,
            benchmark=parsed.benchmark or benchmark,
            registered_by=token_id,
        )
        .on_conflict_do_nothing(index_elements=["sha256"])
        .returning(Prereg)
    )
    return (made, True) if made is not None else (find_prereg(session, sha256), False)


def find_prereg(session: Session, sha256: str) -> Prereg:
    """Return a preregistration by the SHA-256 of its bytes. Raises NotFound."""
    prereg = session.get(Prereg, sha256)
    if prereg is None:
        raise NotFound(f"There is no preregistration with SHA-256 {sha256[:64]}.")
    return prereg


def load_registration(session: Session, sha256: str) -> Registration:
    """Return a preregistration with the time that counts for it. Raises NotFound."""
    stored = find_prereg(session, sha256)
    attested = [attestation.registered_at for attestation in list_attestations(session, sha256)]
    earliest = min([stored.registered_at, *attested])
    return Registration(
        sha256=sha256,
        git_blob_sha1=stored.git_blob_sha1,
        prereg=parse_prereg(stored.yaml),
        witnessed_at=stored.registered_at,
        registered_at=earliest,
        attested=earliest < stored.registered_at,
    )


def attest(session: Session, sha256: str, registered_at: datetime, evidence: str, token_id: int) -> PreregAttestation:
    """Record a steward's word for an earlier registration. Raises NotFound."""
    attestation = PreregAttestation(
        prereg_sha256=find_prereg(session, sha256).sha256,
        registered_at=registered_at,
        evidence=evidence,
        attested_by=token_id,
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


def list_preregs(session: Session, benchmark: str | None = None, limit: int = 1000) -> Sequence[Prereg]:
    """Return preregistrations, the newest first."""
    query = select(Prereg).order_by(Prereg.registered_at.desc()).limit(limit)
    return session.scalars(query if benchmark is None else query.where(Prereg.benchmark == benchmark)).all()
