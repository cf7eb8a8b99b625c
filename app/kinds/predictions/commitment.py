"""The commitment of a steward to private labels, based on a digest that does not depend on their order.

Called by `app.store.disclosure` and `plumbline benchmark commitment`; pure. The commitment is published when the labels
are uploaded. The salt keeps it from revealing them; at the close salt and digest are published, so that anybody can
recompute the commitment and, with the labels, the digest.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.label_parts import KEY_BYTES, items_by_group
from app.values.predictions import Labels

FORM = "plumbline-labels-v1"


@dataclass(frozen=True, repr=False)
class Opening:
    """The opening of a commitment: a random salt, the share that is public, and the digest of the labels."""

    salt: bytes
    public_share: float
    labels_sha256: str

    def text(self) -> str:
        """Return the bytes whose SHA-256 is the commitment, as text."""
        share = repr(float(self.public_share))
        lines = (FORM, f"salt {self.salt.hex()}", f"public_share {share}", f"labels {self.labels_sha256}")
        return "".join(f"{line}\n" for line in lines)

    def commitment(self) -> str:
        """Return the SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def parts_key(labels_sha256: str) -> bytes:
    """Return the key that decides which items are public: as secret as the labels, and not chosen by the steward.

    A random key could be redrawn until the parts suit the steward.
    """
    return hashlib.blake2b(labels_sha256.encode(), person=b"plumbline parts", digest_size=KEY_BYTES).digest()


def labels_digest(labels: Sequence[Labels], part: Predictions) -> str:
    """Return the SHA-256 over a line of JSON for each item: [task, item, label, weight, first item of its group].

    Lines stand in the order of their text within a task, so that another order of the file is the same. A class is
    written by its name, a number as the shortest digits that give it again; what there is none of is null.
    """
    digest = hashlib.sha256()
    for each in sorted(labels, key=lambda one: one.task):
        for line in sorted(_lines(each, part)):
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _lines(labels: Labels, part: Predictions) -> list[str]:
    first = {number: items[0] for number, items in items_by_group(labels).items()} if labels.group is not None else {}
    weights = np.full(len(labels), np.nan) if labels.weight is None else labels.weight
    groups = [None] * len(labels) if labels.group is None else labels.group.tolist()
    rows = zip(labels.items, labels.label.tolist(), weights.tolist(), groups, strict=True)
    return [
        json.dumps([labels.task, item, _label(part, label), None if np.isnan(weight) else weight, first.get(group)])
        for item, label, weight, group in rows
    ]


def _label(part: Predictions, label: float) -> str | float:
    return float(label) if part.classes is None else part.classes[int(label)]
