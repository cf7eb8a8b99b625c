"""The parts of a submission as they are shown, read back or as they were just written.

Called by `app.web.submission_views`; `app.store.arrivals` hands on what it wrote, which need not be read again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.db.models import Entrant, Entry, Submission, SubmissionCheck, SubmissionEvent, SubmissionFile
from app.store import submissions
from app.store.fingerprints import list_flags


@dataclass(frozen=True)
class Parts:
    """What is shown of a submission beside its own row: each in the order of its list, flags by the entrant's name."""

    slug: str
    events: Sequence[SubmissionEvent]
    checks: Sequence[SubmissionCheck]
    flags: Mapping[str, list[str]]
    entries: Sequence[tuple[Entrant, Entry]]
    files: Sequence[SubmissionFile]


def read_parts(session: Session, submission: Submission) -> Parts:
    """Return the parts of a submission as they are now."""
    number = submission.id
    return Parts(
        slug=submissions.slug_of(session, submission),
        events=submissions.list_events(session, number),
        checks=submissions.list_checks(session, number),
        flags=list_flags(session, number),
        entries=submissions.list_entries(session, number),
        files=submissions.list_files(session, number),
    )
