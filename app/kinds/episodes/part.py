"""What a benchmark of episodes declares beside the common keys. Read by the modules beside it."""

from pydantic import Field

from app.manifest.base import ColumnName, Name, Part
from app.manifest.manifest import KindPart


class Episodes(Part):
    """Where an episode says its condition and which columns tell its repetitions apart.

    A dotted name reads a nested object: `metadata.member`. Without `condition` every episode has the same one.
    """

    condition: ColumnName | None = "metadata.condition"
    item: list[ColumnName] = Field(default=["episode_idx", "initial_state_seed"], min_length=1)
    conditions: list[Name] | None = Field(None, min_length=1)
    task: ColumnName | None = None


class EpisodesPart(KindPart):
    """Where an episode says what; None is as if every key of it had its default."""

    episodes: Episodes | None = None

    @property
    def where(self) -> Episodes:
        """Return where an episode says what, whether it is declared or not."""
        return self.episodes or Episodes()
