"""An example upload of episodes: a row per episode. Called by `app.kinds.episodes.pages`."""

from collections.abc import Iterator

from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.example_cells import ANY_CONDITION, MODEL, example_score, first_task
from app.kinds.pages import ColumnUse, UploadExample
from app.manifest.grid import FILE
from app.manifest.manifest import Manifest, part_of


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of a table of episodes; its rows name the entrant where the manifest says in which column."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per episode",
        names_entrant=_names_entrant(manifest),
        may_name_entrant=True,
        or_else="Or a result bundle of CHAMBER as a zip, or JSON Lines.",
    )


def _names_entrant(manifest: Manifest) -> bool:
    """Say whether the manifest itself gives the column of the entrant, which CHAMBER's files do not have."""
    declared = part_of(manifest, EpisodesPart).episodes
    return declared is not None and "entrant" in declared.model_fields_set


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    where = part_of(manifest, EpisodesPart).where
    cells = manifest.asked.cells_of(first_task(manifest), MODEL)
    if _names_entrant(manifest):
        yield ColumnUse(where.entrant, "the entrant's name", MODEL)
    if where.seed is not None:
        seed = str(cells.seeds[0]) if isinstance(cells.seeds, tuple) else "0"
        yield ColumnUse(where.seed, "the seed, a whole number", seed)
    if where.task is not None:
        yield ColumnUse(where.task, "the task", first_task(manifest))
    if where.condition_paths:
        condition = (where.conditions or cells.conditions or (ANY_CONDITION,))[0]
        yield ColumnUse(where.condition_paths[0], "the condition", condition)
    item = cells.items[0] if isinstance(cells.items, tuple) and len(where.item) == 1 else "0"
    has_file = manifest.grid is not None and manifest.grid.of(first_task(manifest), MODEL).items == FILE
    of_file = "an item of the steward's file" if has_file else None
    for name in where.item:
        yield ColumnUse(name, of_file or "what tells episodes of one seed apart", item)
    sources = {metric.source or name: (name, metric) for name, metric in manifest.metrics.items()}
    for column, (name, metric) in sources.items():
        cell = "true" if name in where.boolean else example_score(metric)
        yield ColumnUse(column, f"{metric.title or 'metric'} of the episode", cell)
