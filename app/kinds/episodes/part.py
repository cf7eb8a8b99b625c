"""What a benchmark of episodes declares beside the common keys. Read by the modules beside it."""

from app.manifest.manifest import KindPart
from app.manifest.parts import Episodes


class EpisodesPart(KindPart):
    """Where an episode says what; None is as if every key of it had its default."""

    episodes: Episodes | None = None
