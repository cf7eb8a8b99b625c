"""The places on a board of skill scores, built once its ranks are known.

Called by `.method`; pure. The errors of a large board take a lot of memory, and have been freed by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.boards.columns import Place
from app.boards.contrasts import Contrasts
from app.boards.coverage import Roster
from app.boards.methods.skill_score.ranked import Among
from app.boards.standing import BoardStanding, among_others, unranked_places


@dataclass(frozen=True)
class Own:
    """The ranked entrants: their names, the effect that ranks, and their standing; None without any."""

    names: Sequence[str]
    rank_by: str
    standing: BoardStanding | None

    def contrasts(self, shown: Sequence[str]) -> Contrasts:
        """Return the pairwise results of some entrants; those of an unranked one are unknown."""
        place = {name: at for at, name in enumerate(self.names)}
        return among_others(self.standing, [place.get(name) for name in shown])


@dataclass(frozen=True)
class Places:
    """What places need once the ranks are known, without the errors behind it.

    `at` maps names to columns, `bounds` gives the ranks of incomplete entrants if missing errors were worst and best,
    `scores` the scores of all that have one.
    """

    roster: Roster
    at: Mapping[str, int]
    bounds: Mapping[str, tuple[int, int] | None]
    scores: Mapping[str, float]

    @classmethod
    def of(cls, among: Among, rank_by: str, scores: Mapping[str, float]) -> "Places":
        """Return the places of everybody on the board."""
        names = among.cells.entrants
        bounds = {name: among.bounds(name, rank_by) for name in names}
        return cls(among.roster, {name: at for at, name in enumerate(names)}, bounds, scores)

    def all_of(self, own: Own) -> list[tuple[Place, int]]:
        """Return everybody's place with its column: the ranked by rank, those behind, those listed separately."""
        places = [] if own.standing is None else [place for place, _ in own.standing.placed(own.names)]
        return [
            (replace(place, standing=self.roster.standing(name, self.bounds[name])), self.at[name])
            for place in [*places, *unranked_places(self.roster, self.scores)]
            for name in [place.entrant]
        ]
