"""Domain errors: each class names a case and carries its data.

Raised everywhere below `web`; `app.web.problems` maps each class to an HTTP status in one table. Problems and the
errors that carry them are the client's too, and come from `plumbline.errors`.
"""

from collections.abc import Sequence
from enum import StrEnum

from plumbline.errors import (
    MAX_CAUSES,
    MAX_PROBLEMS,
    Cause,
    Causes,
    EvidenceRejected,
    FieldRejected,
    PlumblineError,
    Problem,
    Rejected,
)
from plumbline.retries import RETRY_AFTER_S

# What of the client's is the server's too.
__all__ = [
    "MAX_CAUSES",
    "MAX_PROBLEMS",
    "Cause",
    "Causes",
    "EvidenceRejected",
    "FieldRejected",
    "PlumblineError",
    "Problem",
    "Rejected",
]


class ManifestRejected(Rejected):
    """A benchmark manifest breaks a rule."""


class PreregRejected(Rejected):
    """A preregistration breaks a rule."""


class NotFound(PlumblineError):
    """The named thing does not exist."""


class Gone(PlumblineError):
    """The named thing existed, and is not kept any longer."""


class Unauthenticated(PlumblineError):
    """No token, or an unknown one."""


class Forbidden(PlumblineError):
    """A known token whose role or ownership does not allow the action."""


class SignedInLongAgo(Forbidden):
    """A dangerous act in a browser session whose holder showed their token too long ago."""

    def __init__(self) -> None:
        super().__init__("Sign in again at /login before you do this; your session here began a while ago.")


class Conflict(PlumblineError):
    """The action contradicts what is already stored."""


class TooLarge(PlumblineError):
    """An upload exceeds a limit of this server."""


class UnsupportedMediaType(PlumblineError):
    """A body whose type this address does not accept."""


class TooManyRequests(PlumblineError):
    """A token exceeded its requests per minute; `retry_after_s` says when to come back."""

    def __init__(self, detail: str, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Unavailable(StrEnum):
    """Why a board has no numbers: what the manifest asks for and the evidence lacks. docs/statistics.md explains each.

    FAULT alone is the server's: a computation failed, and no single submission could be identified as the cause.
    """

    NO_SUBMISSION = "no_submission"
    NO_ROWS = "no_rows"
    BASELINE_ABSENT = "baseline_absent"
    BASELINE_INCOMPLETE = "baseline_incomplete"
    BASELINE_ZERO = "baseline_zero"
    LEAKAGE_MODEL_LEAKED = "leakage_model_leaked"
    INCOMPLETE = "incomplete"
    NO_COMMON_TASK = "no_common_task"
    FAULT = "fault"


class Busy(PlumblineError):
    """Too many uploads are being read; `retry_after_s` says when to come back."""

    def __init__(self, detail: str, retry_after_s: int = RETRY_AFTER_S) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class BoardUnavailable(PlumblineError):
    """A leaderboard cannot be computed from the admitted evidence; the reason is shown in its place.

    `entrants` are those whose own gaps are the reason: without them the board may be computed.
    """

    def __init__(self, reason: Unavailable, detail: str, entrants: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.reason = reason
        self.entrants = tuple(entrants)


class TableRejected(PlumblineError):
    """A table holds what no table may: a number that is not finite, a row of a different length, a column twice."""


class EmbeddedDatabaseError(PlumblineError):
    """The embedded Postgres could not be created or started; the message says what to do."""


class SettingsError(PlumblineError):
    """A PLUMBLINE_* setting is unknown or has a value that is not allowed."""


class PluginError(PlumblineError):
    """A kind of evidence, or a reader of a harness, that an installed package declares could not be loaded."""
