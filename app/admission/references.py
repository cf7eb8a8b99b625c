"""Who submits an entrant that the manifest names: one that others are scored relative to, or is asked something else.

A manipulated baseline shifts everybody's score, and who takes a name of which the grid asks five items reports its best
five. Called by `app.receiving.receive`; pure. It is flagged and not refused: the authors need not be stewards.
"""

from collections.abc import Iterable, Iterator

from app.manifest.manifest import Manifest
from app.names import name_key
from app.values.forensics import Finding

FLAG, OWN_GRID = "reference", "own_grid"


def reference_findings(manifest: Manifest, entrants: Iterable[str]) -> Iterator[Finding]:
    """Yield which of these entrants, sent by someone who is not a steward, the manifest treats unlike others."""
    boards: dict[str, list[str]] = {}
    for board in manifest.leaderboards:
        for name in board.required_entrants():
            boards.setdefault(name_key(name), []).append(board.name)
    own = {} if manifest.grid is None else manifest.grid.entrants
    for entrant in entrants:
        if entrant in own:
            yield Finding(OWN_GRID, entrant, f"{entrant}, which the manifest's grid names")
        if names := boards.get(name_key(entrant)):
            yield Finding(FLAG, entrant, f"{entrant}, on {', '.join(dict.fromkeys(names))}")
