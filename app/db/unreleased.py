"""How schemas of before the first release are named, so that no program takes another's for its own.

Until then the one revision is edited. Its name is the digest of what it runs, so a database that an earlier state of
the files made is refused at start instead of failing at the first statement that misses a column. Called by
`migrations/versions/0001_initial.py` and `app.db.migrate`.
"""

import hashlib
import re
from collections.abc import Iterable

PREFIX = "unreleased_"
NUMBERED = frozenset({*(f"{number:04}" for number in range(1, 10)), "r0001"})
"""Names that unreleased schemas had before; no release takes one of them."""

COMMENT = re.compile(r"--[^\n]*")
N_DIGITS = 16


def unreleased_name(statements: Iterable[str]) -> str:
    """Return the name of a revision that runs these statements; comments, line breaks and indents do not change it."""
    digest = hashlib.sha256()
    for statement in statements:
        digest.update(" ".join(COMMENT.sub("", statement).split()).encode() + b"\0")
    return PREFIX + digest.hexdigest()[:N_DIGITS]


def is_unreleased(revision: str) -> bool:
    """Say whether a revision's name is one of before the first release."""
    return revision in NUMBERED or revision.startswith(PREFIX)
