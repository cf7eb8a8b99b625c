"""What the JSON answers hold, for the description of the API at /openapi.json; a test holds real answers against it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """Base of every described answer: it has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ColumnDocument(Document):
    """One column of a table: its CSV name, title, kind, unit, better direction, interval columns."""

    name: str
    title: str
    kind: str
    unit: str | None
    direction: str | None
    interval: list[str] | None
    detail: bool
    optional: bool
    glossary: str | None
    digits: int | None


class PlainTableDocument(Document):
    """A table with its rows as objects by column name."""

    name: str
    title: str
    notes: list[str]
    meta: dict[str, Any]
    columns: list[ColumnDocument]
    rows: list[dict[str, str | int | float | bool | None]]


class SubmissionTableDocument(PlainTableDocument):
    """One of a submission's own tables."""

    submission: int


class TableDocument(PlainTableDocument):
    """A published table, and the snapshot it belongs to."""

    benchmark: str
    snapshot: int | None
    published_at: str | None = None
    manifest_version: int | None = None
    manifest_digest: str | None = None
    input_digest: str | None = None
    code_version: str | None = None


class CheckDocument(Document):
    """One admission rule applied to one submission: passed, failed or warned, and why."""

    rule: str
    outcome: str
    reason: str


class EntryDocument(Document):
    """One entrant of a submission and whether this is the evidence that counts.

    `tasks` are those it counts for, where evidence supersedes task by task; null: whatever it has.
    """

    name: str
    n_rows: int
    state: str
    tasks: list[str] | None
    superseded_by: int | None


class FileDocument(Document):
    """One file as it was received."""

    name: str
    sha256: str
    n_bytes: int
    n_rows: int


class EventDocument(Document):
    """One state that a submission reached, when and why."""

    status: str
    at: str
    reason: str


class WarningDocument(Document):
    """Something the submitter should know that is no problem."""

    file: str | None
    row: int | None
    column: str | None
    value: str | None
    message: str


class SubmissionDocument(Document):
    """A submission: where it stands, its checks, entrants, files and history. `warnings` comes with the 202 alone.

    `flags` are what was noticed of each entrant's evidence, `identity` is what each bundle states of what was run.
    """

    id: int
    url: str
    benchmark: str
    status: str
    reason: str
    admitted: bool
    waiting_for: str | None
    run_purpose: str
    prereg_sha256: str | None
    received_at: str
    n_rows: int
    metadata: dict[str, Any]
    claims: dict[str, Any] | None
    checks: list[CheckDocument]
    flags: dict[str, list[str]]
    identity: list[dict[str, str | None]]
    entrants: list[EntryDocument]
    files: list[FileDocument]
    history: list[EventDocument]
    warnings: list[WarningDocument] | None = None


class DryRunDocument(Document):
    """What a submission would come to; nothing was stored."""

    dry_run: bool
    admitted: bool
    checks: list[CheckDocument]
    n_rows: int
    entrants: list[str]
    warnings: list[WarningDocument]


class MadeDocument(Document):
    """A benchmark with the version of its manifest that was stored."""

    slug: str
    version: int
    url: str


class BenchmarkDocument(Document):
    """A benchmark as its newest manifest declares it, and its stewards; `stale`: a publication is under way.

    `publish_error` says why the latest one failed, `publish_tries` how often it did since the last that did not.
    """

    slug: str
    version: int
    sha256: str
    snapshot: int | None
    stale: bool
    stewards: list[str]
    publish_error: str | None
    publish_tries: int
    manifest: dict[str, Any]


class ListedBenchmark(Document):
    """One benchmark of the list."""

    slug: str
    title: str
    n_entrants: int
    n_submissions: int
    snapshot: int | None
    published_at: str | None
    leaderboards: list[str]


class SnapshotDocument(Document):
    """One published state, what it was computed from, and what changed since the snapshot `before`.

    `current` is the one that the boards show. `before` is null in the first one, and in those of older releases.
    """

    number: int
    current: bool
    before: int | None
    published_at: str
    manifest_version: int
    input_digest: str
    manifest_digest: str
    code_version: str
    rng_seeds: dict[str, int]
    changes: list[dict[str, Any]]
    withdrawals: list[dict[str, Any]]


class ChangesDocument(Document):
    """What differs between two snapshots of a benchmark."""

    benchmark: str
    from_: int = Field(alias="from")
    to: int
    changes: list[dict[str, Any]]


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
    """A name that is anybody's again, and for whom it was reserved."""

    benchmark: str
    entrant: str
    reserved_for: str


class AttestationDocument(Document):
    """What a steward attests; it counts in one benchmark, or (null) in all of them."""

    registered_at: str
    evidence: str
    attested_at: str
    benchmark: str | None


class RegistrationDocument(Document):
    """A preregistration: its addresses, when and by whom it was registered, as what, and for which benchmarks.

    `not_reserved` are the entrants it lists that this request could not reserve, `warnings` say what it asks for that
    the benchmark does not have.
    """

    sha256: str
    git_blob_sha1: str
    registered_at: str
    registered_by: str
    form: str
    run_purpose: str
    benchmarks: list[BindingDocument]
    reservations: list[ReservationDocument]
    not_reserved: list[NotReservedDocument]
    warnings: list[str]
    url: str


class OutcomeDocument(Document):
    """What came of a registration in one submission: the claims it decided alone, and declared beside delivered."""

    submission: int
    status: str
    reason: str
    claims: list[dict[str, Any]]
    deviations: list[dict[str, Any]]


class PreregDocument(Document):
    """A preregistration with what stewards attest of it, the submissions that cite it, and its parsed form.

    `claims` has, by benchmark, everything that it claims as published last, also between entrants.
    """

    sha256: str
    git_blob_sha1: str
    registered_at: str
    registered_by: str
    form: str
    run_purpose: str
    benchmarks: list[BindingDocument]
    reservations: list[ReservationDocument]
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


class OwnerDocument(Document):
    """Whose an entrant is now."""

    entrant: str
    owner: int
    owner_name: str


class StewardDocument(Document):
    """A steward of a benchmark, by the number and the name of the token."""

    token: int
    name: str


class GrantDocument(Document):
    """A token was given a benchmark (granted) or lost it (revoked): when and by whom."""

    at: str
    token: int
    name: str
    change: str
    by: str


class StewardsDocument(Document):
    """The stewards of a benchmark whose tokens work, and how they came to be, the oldest change first."""

    benchmark: str
    stewards: list[StewardDocument]
    history: list[GrantDocument]


class LabelledTaskDocument(Document):
    """One task that has labels, and since when."""

    task: str
    n_items: int
    put_at: str


class LabelsDocument(Document):
    """Which tasks of a benchmark have labels; never the labels. `warnings` comes with the PUT alone."""

    benchmark: str
    sha256: str | None
    tasks: list[LabelledTaskDocument]
    warnings: list[WarningDocument] | None = None


class ItemsOfTaskDocument(Document):
    """How many items one task has in the grid; an empty name stands for every task."""

    task: str
    n_items: int
    put_at: str


class ItemsDocument(Document):
    """The items of a benchmark's grid, counted by task. `warnings` comes with the PUT alone."""

    benchmark: str
    version: int
    sha256: str | None
    tasks: list[ItemsOfTaskDocument]
    warnings: list[WarningDocument] | None = None


class TokenDocument(Document):
    """A token; its text is in the answer that made it and nowhere else."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    token: str


class RotatedDocument(TokenDocument):
    """A token with a new text, and until when the former one works beside it."""

    former_until: str


class WhoamiDocument(Document):
    """The token of the request: what it may do, and where; an admin decides everywhere, `steward_of` is null then."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    steward_of: list[str] | None


class ListedToken(Document):
    """A token as stewards see it; its text is kept nowhere. `used_at` is its last use, to the hour."""

    id: int
    name: str
    role: str
    created_at: str
    expires_at: str | None
    benchmarks: list[str] | None
    used_at: str | None
    revoked_at: str | None


class RevokedDocument(Document):
    """A token that is useless from now on."""

    id: int
    name: str
    role: str
    revoked: bool


class HealthDocument(Document):
    """The process answers."""

    status: str
    version: str


class ReadyDocument(Document):
    """The database answers too."""

    status: str
    code_version: str
