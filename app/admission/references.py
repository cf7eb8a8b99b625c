"""Entrants that the manifest names: those that others are scored relative to, and those that are asked something else.

A manipulated baseline shifts everybody's score, so its name belongs to the stewards: `app.store.references` refuses
others. Who takes a name of which the grid asks five items reports its best five; that shifts nobody else's score, and
is flagged for `app.receiving.receive`. Pure.
"""

from collections.abc import Iterable, Iterator

from app.manifest.manifest import Manifest
from app.values.forensics import Finding

OWN_GRID = "own_grid"


def reference_boards(manifest: Manifest) -> dict[str, list[str]]:
    """Return by entrant the boards on which others are scored relative to it."""
    boards: dict[str, list[str]] = {}
    for board in manifest.leaderboards:
        for name in dict.fromkeys(board.required_entrants()):
            boards.setdefault(name, []).append(board.name)
    return boards


def own_grid_findings(manifest: Manifest, entrants: Iterable[str]) -> Iterator[Finding]:
    """Yield of which of these entrants, sent by someone who is not a steward, the grid asks something else."""
    own = {} if manifest.grid is None else manifest.grid.entrants
    for entrant in entrants:
        if entrant in own:
            yield Finding(OWN_GRID, entrant, f"{entrant}, which the manifest's grid names")
