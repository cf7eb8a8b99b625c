"""The digest by which a repeated upload is recognised. Called by `app.receiving.receive`."""

import hashlib
import json
from collections.abc import Sequence

from app.admission.check import Registered
from app.admission.fields import Fields
from app.files.uploads import FileRecord


def digest_of(manifest_sha256: str, files: Sequence[FileRecord], fields: Fields, registered: Registered | None) -> str:
    """Return a digest of every file and field, and of the manifest they were uploaded for."""
    identity = {
        "manifest": manifest_sha256,
        "files": [[file.name, file.sha256] for file in files],
        "entrant": fields.entrant,
        "prereg": registered.sha256 if registered else None,
        "metadata": fields.description,
        "claims": fields.claims,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
