"""What a benchmark's page shows of an upload: the columns it reads, one example row, a minimal preregistration.

Called by the web; pure, from the manifest alone.
"""

from dataclasses import dataclass

from app.kinds.example_cells import ANY_CONDITION, MODEL
from app.kinds.known import kind_of
from app.kinds.pages import UploadExample
from app.manifest.manifest import Manifest
from app.render.exports import csv_bytes

MOST_SHOWN = 100


@dataclass(frozen=True)
class SubmitExample:
    """An upload as its kind of evidence has it, and a preregistration where the benchmark takes our own form."""

    upload: UploadExample
    prereg: str | None

    @property
    def rows(self) -> str:
        """Return the header and one row as CSV."""
        columns = self.upload.columns
        return csv_bytes([[column.name for column in columns], [column.cell for column in columns]]).decode()


def submit_example(manifest: Manifest) -> SubmitExample:
    """Return what a submitter to a benchmark must know of its files."""
    return SubmitExample(kind_of(manifest).pages.example(manifest), _prereg(manifest))


def _prereg(manifest: Manifest) -> str | None:
    if "evaluation" not in manifest.admission.prereg_forms:
        return None
    metrics = ", ".join(f'"{name}"' if ":" in name else name for name in manifest.metrics)
    lines = [f"benchmark: {manifest.slug}", f"entrants: [{MODEL}]", "tasks: all", f"metrics: [{metrics}]"]
    lines += [f"{axis}: [{', '.join(values)}]" for axis, values in _axes(manifest).items() if values]
    return "\n".join([*lines, ""])


def _axes(manifest: Manifest) -> dict[str, list[str]]:
    """Return the axes of the grid that a registration should name, with values that it may name."""
    free = {} if manifest.grid is None else manifest.grid.registration_may_choose
    conditions = free.get("conditions")
    n_conditions = 0 if conditions is None else min(conditions.at_least, MOST_SHOWN)
    return {
        "seeds": [str(seed) for seed in _seeds(manifest)],
        "conditions": [ANY_CONDITION, *(f"{ANY_CONDITION}-{at}" for at in range(2, n_conditions + 1))][:n_conditions],
    }


def _seeds(manifest: Manifest) -> list[int]:
    """Return seeds that a registration may name: those of the grid, or as many as it asks; none if too many."""
    grid = manifest.grid
    if grid is None:
        return []
    free = grid.registration_may_choose.get("seeds")
    asked = grid.seeds if free is None else free.at_least
    seeds = list(range(min(asked, MOST_SHOWN + 1))) if isinstance(asked, int) else asked or []
    return seeds if len(seeds) <= MOST_SHOWN else []
