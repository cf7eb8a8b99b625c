"""An example upload of episodes: a row per episode. Called by `app.kinds.episodes.pages`."""

from collections.abc import Iterator

from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.example_cells import example_score, first_task
from app.kinds.pages import ColumnUse, UploadExample
from app.manifest.manifest import Manifest, part_of


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of a table of episodes; the rows name no entrant, a bundle does."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per episode",
        names_entrant=False,
        may_name_entrant=True,
        or_else="Or a result bundle of CHAMBER as a zip, or JSON Lines.",
    )


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    where = part_of(manifest, EpisodesPart).where
    if where.seed is not None:
        yield ColumnUse(where.seed, "the seed, a whole number", "0")
    if where.task is not None:
        yield ColumnUse(where.task, "the task", first_task(manifest))
    if where.condition_paths:
        condition = where.conditions[0] if where.conditions else "a-condition"
        yield ColumnUse(where.condition_paths[0], "the condition", condition)
    for name in where.item:
        yield ColumnUse(name, "what tells episodes of one seed apart", "0")
    sources = {metric.source or name: (name, metric) for name, metric in manifest.metrics.items()}
    for column, (name, metric) in sources.items():
        cell = "true" if name in where.boolean else example_score(metric)
        yield ColumnUse(column, f"{metric.title or 'metric'} of the episode", cell)
