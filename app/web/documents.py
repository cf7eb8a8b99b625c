"""The JSON documents of the API: one model for each described answer."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """Base of every described answer: it has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


# The JSON of benchmarks and their snapshots, for `app.web.benchmarks`.


class MadeDocument(Document):
    """A benchmark with the version of its manifest that was stored, or that a dry run would store."""

    slug: str
    version: int
    url: str
    dry_run: bool = False
    is_new: bool = True


class DraftedMetric(Document):
    """A metric as it was guessed: its column, its name in the manifest, which way is better, its range and unit."""

    column: str
    name: str
    direction: str | None
    low: float | None
    high: float | None
    unit: str | None
    observed: list[float]


class DraftedRoles(Document):
    """Which column is what; null where none is."""

    entrant: str | None
    task: str | None
    condition: str | None
    seed: str | None
    item: list[str]


class DraftedDocument(Document):
    """A manifest that was drafted of results, what it takes columns to be, what is not known, and the boards under it.

    `n_missing` answers are TODO in the text, and `questions` ask for them. `problems` say why there are no boards.
    Where the files `are_labels`, predictions are scored against them, and `numeric` are the metrics of such ones.
    """

    yaml: str
    slug: str
    title: str
    n_rows: int
    n_missing: int
    columns: list[str]
    numeric: list[str]
    roles: DraftedRoles
    metrics: list[DraftedMetric]
    questions: list[str]
    left_out: list[str]
    problems: list[dict[str, Any]]
    are_labels: bool
    tables: list[dict[str, Any]]


class RetiredDocument(Document):
    """Since when a benchmark takes no more submissions, and why."""

    at: str
    reason: str


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
    retired: RetiredDocument | None = None


class ListedBenchmark(Document):
    """One benchmark of the list; `retired` is present if it takes no more submissions."""

    slug: str
    title: str
    n_entrants: int
    n_submissions: int
    snapshot: int | None
    published_at: str | None
    leaderboards: list[str]
    retired: RetiredDocument | None = None


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


class LifeDocument(Document):
    """How a benchmark is called now, and whether it is retired."""

    slug: str
    title: str
    description: str
    retired: RetiredDocument | None


class ContentsDocument(Document):
    """What a benchmark contains, as its readers see it: counts and entrants, never labels."""

    manifest_versions: int
    snapshots: int
    submissions: int
    registrations: int
    entrants: list[str]


class VisibilityDocument(Document):
    """Who may read a benchmark: draft (its stewards and reviewers), private (who has a role in it) or public."""

    benchmark: str
    visibility: str
    contents: ContentsDocument


class DeletedDocument(Document):
    """A draft that was deleted."""

    benchmark: str
    deleted: bool


# The JSON of who is counted as whom, for `app.web.labels`.


class OwnerLinkDocument(Document):
    """A token, and the token as whose its submissions are counted: itself if it is its own owner."""

    benchmark: str
    token: int
    counted_as: int


# The JSON of a draft of a manifest, for `app.web.drafts`.


class RemovedDraftDocument(Document):
    """A draft of the next version of a manifest that was removed."""

    slug: str
    removed: bool


# The JSON of a server's health, for `app.web.ops`.


class HealthDocument(Document):
    """The process answers."""

    status: str
    version: str


class ReadyDocument(Document):
    """The database answers too."""

    status: str
    code_version: str
    warnings: list[str]


# The JSON of notifications, for `app.web.notifications`.


class NotificationDocument(Document):
    """An address that is notified of submissions, whether it is confirmed, and its latest error."""

    id: int
    address: str
    benchmark: str | None
    events: list[str]
    made_at: str
    confirmed: bool
    last_error: str | None


class MadeNotificationDocument(NotificationDocument):
    """A new subscription, with the secret that signs its notifications; null for an e-mail address."""

    secret: str | None


# The JSON of tokens, owners and roles, for `app.web.tokens`, `app.web.rows` and `app.web.people`.


class OwnerDocument(Document):
    """An entrant and its owner."""

    entrant: str
    owner: int
    owner_name: str


class EntrantFieldsDocument(Document):
    """What was changed of what entrants are, by entrant and field; null: taken back. `last_change` is its number."""

    benchmark: str
    n_entrants: int
    n_changed: int
    changed: dict[str, dict[str, str | float | bool | None]]
    last_change: int


class CardDocument(EntrantFieldsDocument):
    """The same of a model card, with the keys of its front matter that are no fields of the benchmark."""

    passed_over: list[str]


class HeldRoleDocument(Document):
    """A role that somebody has in a benchmark now, and when it ends; null: when it is revoked."""

    token: int
    name: str
    role: str
    until: str | None


class GrantDocument(Document):
    """A role in a benchmark that was granted to a token or revoked: when, until when, and by whom."""

    at: str
    token: int
    name: str
    role: str
    change: str
    until: str | None
    by: str


class RolesDocument(Document):
    """The valid tokens with a role in a benchmark, and the history of its roles, oldest change first."""

    benchmark: str
    roles: list[HeldRoleDocument]
    history: list[GrantDocument]


class TermsDocument(Document):
    """What a token may do, where, and until when; null: without that limit."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    scopes: list[str] | None
    entrants: list[str] | None


class TokenDocument(TermsDocument):
    """A new token with its text, which no other answer contains."""

    token: str


class RotatedDocument(TokenDocument):
    """A token with a new text, and until when the former one works beside it."""

    former_until: str


class WhoamiDocument(TermsDocument):
    """The token of the request: what it may do, and where, within its limits; `steward_of` is null of an admin: all."""

    steward_of: list[str] | None


class ListedToken(TermsDocument):
    """A token as stewards see it; its text is stored nowhere. `used_at` is its last use, to the hour."""

    created_at: str
    used_at: str | None
    revoked_at: str | None


class ListedInvitation(Document):
    """An invitation: its terms, its creator, its state (open, used, revoked, expired), and the `token` it created."""

    id: int
    role: str
    benchmark: str | None
    token_days: int | None
    made_by: str
    made_at: str
    expires_at: str
    state: str
    token: int | None


class InvitationDocument(ListedInvitation):
    """A new invitation with its code, which no other answer contains, and the link to send, for whom it is."""

    code: str
    name: str | None
    url: str


class InvitationsDocument(Document):
    """The new invitations of a class."""

    benchmark: str | None
    invitations: list[InvitationDocument]


class ErasedDocument(Document):
    """A token whose name was erased."""

    id: int
    name: str


class OwnDataDocument(Document):
    """Everything that is stored about the holder of a token."""

    token: dict[str, Any]
    identity: dict[str, Any] | None
    sessions: list[dict[str, Any]]
    roles: dict[str, list[str]]
    entrants: list[str]
    registrations: list[dict[str, Any]]
    submissions: list[dict[str, Any]]
    tries: list[dict[str, Any]]
    disputes: list[dict[str, Any]]
    notifications: list[dict[str, Any]]
    events: list[dict[str, Any]]


class RevokedDocument(Document):
    """A token that was revoked."""

    id: int
    name: str
    role: str
    revoked: bool


class OwnSubmissionDocument(Document):
    """A submission of the calling token: its benchmark, status and entrants."""

    id: int
    benchmark: str
    status: str
    received_at: str
    n_rows: int
    entrants: list[str]
    url: str


# The JSON of preregistrations, registrations and reserved names, for `app.web.preregs`.


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
    the benchmark does not have. Of a dry run all of it is what would be.
    """

    not_reserved: list[NotReservedDocument]
    warnings: list[str]
    url: str
    dry_run: bool = False


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


# The JSON of a refusal: a problem document (RFC 9457) with every row that is wrong.


class RowProblem(BaseModel):
    """One thing that is wrong, and where."""

    file: str | None
    row: int | None
    column: str | None
    value: str | None
    message: str


class ProblemCause(RowProblem):
    """How many problems have one cause, and the first of them."""

    n: int


class ProblemDocument(BaseModel):
    """An error as every address answers it."""

    title: str
    status: int
    detail: str
    problems: list[RowProblem] = []
    n_problems: int = 0
    causes: list[ProblemCause] = []


# The JSON of tables, for the addresses that answer one.


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


class AuditDocument(PlainTableDocument):
    """One page of the record of who did what; `older` leads to the next one, null on the last."""

    older: str | None


class SealDocument(Document):
    """A batch of the audit record under one digest, which covers the other fields and so every seal before."""

    number: int
    at: str
    events: str
    previous: str | None
    digest: str


class SealsDocument(Document):
    """Seals of the audit record, the newest first."""

    seals: list[SealDocument]


class SubmissionTableDocument(PlainTableDocument):
    """One of a submission's own tables."""

    submission: int


class CroissantDocument(Document):
    """A benchmark's boards as Croissant metadata (JSON-LD); only its own keys are described."""

    model_config = ConfigDict(extra="allow")

    name: str
    url: str
    version: str


class TableDocument(PlainTableDocument):
    """A published table, and the snapshot it belongs to."""

    benchmark: str
    snapshot: int | None
    published_at: str | None = None
    manifest_version: int | None = None
    manifest_digest: str | None = None
    input_digest: str | None = None
    code_version: str | None = None


# The JSON of submissions, for `app.web.submissions`.


class CheckDocument(Document):
    """One admission rule applied to one submission: passed, failed or warned, and why."""

    rule: str
    outcome: str
    reason: str


class EntryDocument(Document):
    """One entrant of a submission, and whether this evidence is current.

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
    """One status that a submission reached, when and why."""

    status: str
    at: str
    reason: str


class DisputeDocument(Document):
    """A dispute of a submission, and a steward's answer; null until there is one."""

    id: int
    at: str
    text: str | None
    answer: str | None
    answered_at: str | None


class WarningDocument(Document):
    """Something the submitter should know, but no reason to refuse the upload."""

    file: str | None
    row: int | None
    column: str | None
    value: str | None
    message: str


class SubmissionDocument(Document):
    """A submission: its status, checks, entrants, files and history. `warnings` comes with the 202 alone.

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
    disputes: list[DisputeDocument] | None = None
    warnings: list[WarningDocument] | None = None


class PlaceDocument(Document):
    """The rank that an entrant would have, with its rank interval; null, with the reason, if it would have none."""

    entrant: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    may_be_first: bool | None
    unranked_because: str | None


class MoveDocument(Document):
    """An entrant whose rank would change."""

    entrant: str
    before: int | None
    after: int | None


class BoardImpactDocument(Document):
    """What an upload would change on one board, in words and as data; `fails` says why it could not be computed."""

    board: str
    title: str
    fails: str | None
    lines: list[str]
    entrants: list[PlaceDocument]
    moves: list[MoveDocument]


class ImpactDocument(Document):
    """What an upload would change; `reason` says why that was not computed."""

    reason: str | None
    boards: list[BoardImpactDocument]


class DryRunDocument(Document):
    """The outcome of a dry run; nothing was stored. `impact` is there unless it was asked not to be.

    `repeat_of` is there where the upload would be answered with an earlier submission, whose checks these are.
    """

    dry_run: bool
    admitted: bool
    checks: list[CheckDocument]
    n_rows: int
    entrants: list[str]
    warnings: list[WarningDocument]
    repeat_of: int | None = None
    impact: ImpactDocument | None = None


# The JSON of labels and items, uploaded beside a manifest, for `app.web.labels`.


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
    """How many items one task has in the grid; an empty name means every task."""

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
