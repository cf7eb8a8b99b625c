"""The types of what a server answers. Written by `python -m client.typed` out of the API's description."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict


class Check(TypedDict):
    """One admission rule applied to one submission: passed, failed or warned, and why."""

    rule: str
    outcome: str
    reason: str


class Entry(TypedDict):
    """One entrant of a submission, and whether this evidence is current."""

    name: str
    n_rows: int
    state: str
    tasks: list[str] | None
    superseded_by: int | None


class SentFile(TypedDict):
    """One file as it was received."""

    name: str
    sha256: str
    n_bytes: int
    n_rows: int


class Event(TypedDict):
    """One status that a submission reached, when and why."""

    status: str
    at: str
    reason: str


class Dispute(TypedDict):
    """A dispute of a submission, and a steward's answer; null until there is one."""

    id: int
    at: str
    text: str | None
    answer: str | None
    answered_at: str | None


class Notice(TypedDict):
    """Something the submitter should know, but no reason to refuse the upload."""

    file: str | None
    row: int | None
    column: str | None
    value: str | None
    message: str


class Submission(TypedDict):
    """A submission: its status, checks, entrants, files and history. `warnings` comes with the 202 alone."""

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
    checks: list[Check]
    flags: dict[str, list[str]]
    identity: list[dict[str, str | None]]
    entrants: list[Entry]
    files: list[SentFile]
    history: list[Event]
    disputes: NotRequired[list[Dispute] | None]
    warnings: NotRequired[list[Notice] | None]


class Place(TypedDict):
    """The rank that an entrant would have, with its rank interval; null, with the reason, if it would have none."""

    entrant: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    may_be_first: bool | None
    unranked_because: str | None


class Move(TypedDict):
    """An entrant whose rank would change."""

    entrant: str
    before: int | None
    after: int | None


class BoardImpact(TypedDict):
    """What an upload would change on one board, in words and as data; `fails` says why it could not be computed."""

    board: str
    title: str
    fails: str | None
    lines: list[str]
    entrants: list[Place]
    moves: list[Move]


class Impact(TypedDict):
    """What an upload would change; `reason` says why that was not computed."""

    reason: str | None
    boards: list[BoardImpact]


class DryRun(TypedDict):
    """The outcome of a dry run; nothing was stored. `impact` is there unless it was asked not to be."""

    dry_run: bool
    admitted: bool
    checks: list[Check]
    n_rows: int
    entrants: list[str]
    warnings: list[Notice]
    repeat_of: NotRequired[int | None]
    impact: NotRequired[Impact | None]


class Column(TypedDict):
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


class Table(TypedDict):
    """A published table, and the snapshot it belongs to."""

    name: str
    title: str
    notes: list[str]
    meta: dict[str, Any]
    columns: list[Column]
    rows: list[dict[str, str | int | float | bool | None]]
    benchmark: str
    snapshot: int | None
    published_at: NotRequired[str | None]
    manifest_version: NotRequired[int | None]
    manifest_digest: NotRequired[str | None]
    input_digest: NotRequired[str | None]
    code_version: NotRequired[str | None]


class RunFields(TypedDict, total=False):
    """What is said of a run beside its files."""

    prereg: str | Path | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: Mapping[str, Any] | None
    claims: Mapping[str, Mapping[str, float]] | None
