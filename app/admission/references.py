"""Who submits an entrant that others are scored relative to: a manipulated baseline shifts everybody's score.

Called by `app.receiving.receive`; pure. It is flagged and not refused: the authors of a baseline need not be stewards.
"""

from collections.abc import Iterable, Iterator

from app.manifest.manifest import Manifest
from app.names import name_key
from app.values.forensics import Finding

FLAG = "reference"


def reference_findings(manifest: Manifest, entrants: Iterable[str]) -> Iterator[Finding]:
    """Yield which of these entrants, sent by someone who is not a steward, a board's scores are relative to."""
    boards: dict[str, list[str]] = {}
    for board in manifest.leaderboards:
        for name in board.required_entrants():
            boards.setdefault(name_key(name), []).append(board.name)
    for entrant in entrants:
        if names := boards.get(name_key(entrant)):
            yield Finding(FLAG, entrant, f"{entrant}, on {', '.join(dict.fromkeys(names))}")
