"""The fields of a submission, parsed: what a submitter states beside the files.

Filled by `app.web.submissions` and `app.cli.preregs`, read by `app.receiving`, stored by `app.store.submissions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Claims = Mapping[str, Mapping[str, float]]
"""Values that a submission claims: {entrant: {metric: value}}."""


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The fields of a submission; each that was not sent is None.

    The registration is cited by its bytes (`prereg`) or by their digest. `entrant` is for files that do not name one.
    `description` is stored and shown as sent; when the run began and whether its code was uncommitted are separate
    fields as well, because admission checks them.
    """

    prereg: bytes | None = None
    prereg_sha256: str | None = None
    entrant: str | None = None
    description: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    dirty: bool | None = None
    claims: Claims | None = None
    idempotency_key: str | None = None
