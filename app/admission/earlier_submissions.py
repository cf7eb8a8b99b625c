"""What was sent before and is compared with a new submission. Read by `app.admission.forensics` and `beginnings`."""

from dataclasses import dataclass

from app.values.fingerprints import Fingerprint


@dataclass(frozen=True, repr=False)
class Earlier:
    """One entrant's evidence in an earlier submission; `is_same` says that it is of the very entrant."""

    submission: int
    is_same: bool
    fingerprint: Fingerprint
