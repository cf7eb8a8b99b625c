"""Who submits an entrant that others are measured against: a baseline of one's own making lifts or sinks everybody.

Called by `app.receiving.receive`; pure. It is flagged and not refused: the authors of a baseline need be no stewards.
"""

from collections.abc import Iterable, Iterator

from app.manifest.manifest import Manifest
from app.names import name_key
from app.values.forensics import Finding

FLAG = "reference"


def reference_findings(manifest: Manifest, entrants: Iterable[str]) -> Iterator[Finding]:
    """Yield which of some entrants, sent by who decides nothing in the benchmark, scores of a board are relative to."""
    boards: dict[str, list[str]] = {}
    for board in manifest.leaderboards:
        for name in board.required_entrants():
            boards.setdefault(name_key(name), []).append(board.name)
    for entrant in entrants:
        if names := boards.get(name_key(entrant)):
            yield Finding(FLAG, entrant, f"{entrant}, on {', '.join(dict.fromkeys(names))}")
