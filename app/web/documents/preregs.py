"""The JSON of preregistrations, registrations and reserved names, for `app.web.preregs` and `app.web.reservations`."""

from typing import Any

from app.web.documents.base import Document


class BindingDocument(Document):
    """A benchmark that a preregistration is for, and since when."""

    benchmark: str
    since: str


class ReservationDocument(Document):
    """An entrant that a registration reserved, until when, and its state: open, used, released or lapsed.

    The last three fields say who released it, when and why.
    """

    benchmark: str
    entrant: str
    until: str
    state: str
    released_at: str | None
    released_by: str | None
    reason: str | None


class NotReservedDocument(Document):
    """An entrant that a registration lists and that is not reserved, and why."""

    benchmark: str
    entrant: str
    reason: str


class ReleasedDocument(Document):
    """A reserved name that was released, and for whom it was reserved."""

    benchmark: str
    entrant: str
    reserved_for: str


class AttestationDocument(Document):
    """What a steward attests; it counts in one benchmark, or (null) in all of them."""

    registered_at: str
    evidence: str
    attested_at: str
    benchmark: str | None


class RegisteredDocument(Document):
    """What every answer about a preregistration says: its digests, when and by whom it was registered, and for what."""

    sha256: str
    git_blob_sha1: str
    registered_at: str
    registered_by: str
    form: str
    run_purpose: str
    benchmarks: list[BindingDocument]
    reservations: list[ReservationDocument]


class RegistrationDocument(RegisteredDocument):
    """A preregistration that was registered just now.

    `not_reserved` are the entrants it lists that this request could not reserve, `warnings` say what it asks for that
    the benchmark does not have.
    """

    not_reserved: list[NotReservedDocument]
    warnings: list[str]
    url: str


class OutcomeDocument(Document):
    """The outcome of a registration in one submission: the claims that it decides alone, declared beside delivered."""

    submission: int
    status: str
    reason: str
    claims: list[dict[str, Any]]
    deviations: list[dict[str, Any]]


class PreregDocument(RegisteredDocument):
    """A preregistration with what stewards attest of it, the submissions that cite it, and its parsed form.

    `claims` has, by benchmark, everything that it claims as published last, also between entrants.
    """

    attestations: list[AttestationDocument]
    submissions: list[dict[str, int | str]]
    outcomes: list[OutcomeDocument]
    claims: dict[str, list[dict[str, Any]]]
    document: dict[str, Any]


class AttestedDocument(Document):
    """What a steward attested, and the benchmarks in which it counts; null: all of them."""

    sha256: str
    registered_at: str
    benchmarks: list[str] | None
