"""The registration that a submission cites, by its bytes or by their digest. Called by `app.receiving.receive`."""

from sqlalchemy.orm import Session

from app.admission.check import Registered, TokenHolder
from app.admission.fields import Fields
from app.errors import FieldRejected, NotFound, Problem
from app.prereg.prereg import parse_prereg, sha256_hex
from app.store import preregs


def find_registered(session: Session, fields: Fields, slug: str) -> Registered | None:
    """Return the cited preregistration.

    Raises FieldRejected when it is not registered, or cited twice, differently.
    """
    sha256 = _cited(fields)
    if sha256 is None:
        return None
    try:
        known = preregs.load_registration(session, sha256, slug)
    except NotFound:
        message = "no preregistration with these bytes is registered; POST it to /preregs before the run"
        raise FieldRejected(
            "The preregistration is unknown.", [Problem(message, column="prereg", value=sha256)]
        ) from None
    return Registered(
        sha256,
        known.git_blob_sha1,
        known.prereg,
        known.registered_at,
        known.attested,
        known.benchmarks,
        by=TokenHolder(known.registered_by.id, known.registered_by.name),
        bound_at=known.bound_at,
    )


def _cited(fields: Fields) -> str | None:
    if fields.prereg is None:
        return fields.prereg_sha256
    # Bytes that are not a valid preregistration are refused with all their problems, not as unknown.
    parse_prereg(fields.prereg)
    sent = sha256_hex(fields.prereg)
    if fields.prereg_sha256 not in (None, sent):
        problem = Problem(f"the prereg file has SHA-256 {sent}", column="prereg_sha256", value=fields.prereg_sha256)
        raise FieldRejected("The preregistration is cited twice, differently.", [problem])
    return sent
