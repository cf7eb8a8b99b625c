"""Earlier evidence that a new submission is compared with. Read by `app.admission.forensics` and `beginnings`."""

from dataclasses import dataclass

from app.values.fingerprints import Fingerprint


@dataclass(frozen=True, repr=False)
class Earlier:
    """One entrant's evidence in an earlier submission; `is_same` means that it is the same entrant."""

    submission: int
    is_same: bool
    fingerprint: Fingerprint
