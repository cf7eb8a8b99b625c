"""The page of a benchmark's stewards. Made by `app.web.desk`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.db.models import Try
from app.errors import Rejected
from app.render.base_page import Page
from app.store.disputes import ReadDispute
from app.store.registrations import Registered
from app.store.submissions import ListedSubmission


@dataclass(frozen=True)
class Flagged:
    """A submission of which something was noticed: by entrant, the flags."""

    submission: int
    status: str
    flags: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class RefusedForm:
    """Why a form of the desk was refused, with the problems of what was written; `sign_in` leads to the login."""

    why: Rejected
    sign_in: str | None


@dataclass(frozen=True, kw_only=True)
class DisputesPage(Page):
    """The disputes of a submission that its reader may see, with the form to raise another."""

    template = "disputes.html"
    submission: int
    slug: str
    disputes: Sequence[ReadDispute]
    is_steward: bool
    form_key: str | None


@dataclass(frozen=True, kw_only=True)
class DeskPage(Page):
    """What waits for the stewards of a benchmark. `form_key` is null without a session: then there are no forms.

    `manifest` is the text in its field; of one that `is_previewed`, `diff` and `preview` say what it would change.
    `refusal` is of the form that was sent, if it was refused, and `kept` what was written there, by field.
    """

    template = "desk.html"
    slug: str
    form_key: str | None
    waiting: Sequence[ListedSubmission]
    flagged: Sequence[Flagged]
    refused: Sequence[tuple[Try, str]]
    disputes: Sequence[ReadDispute]
    late: Sequence[tuple[Registered, str]]
    withdrawn: Sequence[tuple[int, datetime, str]]
    manifest: str
    version: int
    diff: Sequence[tuple[str, str]]
    preview: Mapping[str, Any] | None
    is_previewed: bool
    has_private_labels: bool
    is_closed: bool
    kept: Mapping[str, str]
    refusal: RefusedForm | None
