"""The kinds of evidence that installed packages declare, and the one place where a manifest's kind is looked up.

A further one needs an entry point in the group `plumbline.kinds` of its package; CONTRIBUTING.md has the recipe.
"""

from functools import partial

from app.boards.claims import Delivered
from app.boards.measured import MeasuredKind
from app.boards.registry import measured_method
from app.boards.task_values import Counted
from app.kinds.contract import Kind
from app.manifest.model import Leaderboard, Manifest
from app.program import plugins
from app.program.plugins import load_plugins

KINDS = load_plugins(plugins.KINDS, Kind)


def kind_of(manifest: Manifest) -> Kind:
    """Return the kind of a benchmark's evidence."""
    return KINDS[manifest.evidence]


def counted_rows(manifest: Manifest, spec: Leaderboard) -> Counted | None:
    """Return what gives the rows of an entrant as a board counts them; None where they count as they are."""
    measured = kind_of(manifest).measured
    if measured is None or measured.counted is None or measured_method(spec) is None:
        return None
    return partial(measured.counted, manifest, spec)


def delivered_of(manifest: Manifest) -> Delivered:
    """Return what says how much of what a benchmark asks some rows have."""
    return partial(kind_of(manifest).delivered, manifest)


def measured_kind(manifest: Manifest) -> MeasuredKind:
    """Return how the entrants of a benchmark are measured. Raises TypeError for a kind that is not measured so."""
    measured = kind_of(manifest).measured
    if measured is None:
        raise TypeError(f"evidence of kind {manifest.evidence} is not measured one entrant at a time")
    return measured
