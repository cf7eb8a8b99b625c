"""The JSON of submissions, for `app.web.submissions` and `app.web.submission_views`."""

from typing import Any

from app.web.documents.base import Document


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
    """The outcome of a dry run; nothing was stored. `impact` is there unless it was asked not to be."""

    dry_run: bool
    admitted: bool
    checks: list[CheckDocument]
    n_rows: int
    entrants: list[str]
    warnings: list[WarningDocument]
    impact: ImpactDocument | None = None
