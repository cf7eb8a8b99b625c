"""The tables, as SQLAlchemy sees them; `migrations/` makes them and a test holds the two together.

A module for each subject; every table is known to `Base` once this package is imported, and is imported from here.
Rows that record what happened are never updated or deleted. What changes is only the state of a thing: a submission's
status, an entrant's owner, a benchmark's counters.
"""

from app.db.models.audit import AuditEvent, AuditSeal, AuditUnsealed
from app.db.models.base import Base
from app.db.models.benchmarks import Benchmark, ManifestVersion, RoleGrant, Task
from app.db.models.disclosure import LabelAnswer, LabelAttempt, LabelClose, LabelPart, LabelSecret, OwnerLink
from app.db.models.disputes import Dispute, DisputeAnswer
from app.db.models.drafts import DraftBoard
from app.db.models.entrants import Entrant, EntrantRelease, EntrantReservation, EntrantTransfer
from app.db.models.evidence import Evidence, Fingerprint, Measured, Prediction, Score
from app.db.models.identities import Identity
from app.db.models.life import BenchmarkChange
from app.db.models.notifications import EVENTS, Delivery, Notification
from app.db.models.preregs import Prereg, PreregAttestation, PreregBinding
from app.db.models.put_tables import ItemSet, LabelSet
from app.db.models.rates import Rate
from app.db.models.server_faults import ServerFault
from app.db.models.snapshots import Snapshot, SnapshotEntry, SnapshotTable
from app.db.models.submissions import (
    ENTRY_STATES,
    STATUSES,
    Entry,
    Submission,
    SubmissionCheck,
    SubmissionEvent,
    SubmissionFile,
    SubmissionTable,
)
from app.db.models.tokens import ROLES, BrowserSession, Invitation, Token
from app.db.models.tries import Try
from app.db.models.web_processes import Unshown, WebProcess

__all__ = [
    "ENTRY_STATES",
    "EVENTS",
    "ROLES",
    "STATUSES",
    "AuditEvent",
    "AuditSeal",
    "AuditUnsealed",
    "Base",
    "Benchmark",
    "BenchmarkChange",
    "BrowserSession",
    "Delivery",
    "Dispute",
    "DisputeAnswer",
    "DraftBoard",
    "Entrant",
    "EntrantRelease",
    "EntrantReservation",
    "EntrantTransfer",
    "Entry",
    "Evidence",
    "Fingerprint",
    "Identity",
    "Invitation",
    "ItemSet",
    "LabelAnswer",
    "LabelAttempt",
    "LabelClose",
    "LabelPart",
    "LabelSecret",
    "LabelSet",
    "ManifestVersion",
    "Measured",
    "Notification",
    "OwnerLink",
    "Prediction",
    "Prereg",
    "PreregAttestation",
    "PreregBinding",
    "Rate",
    "RoleGrant",
    "Score",
    "ServerFault",
    "Snapshot",
    "SnapshotEntry",
    "SnapshotTable",
    "Submission",
    "SubmissionCheck",
    "SubmissionEvent",
    "SubmissionFile",
    "SubmissionTable",
    "Task",
    "Token",
    "Try",
    "Unshown",
    "WebProcess",
]
