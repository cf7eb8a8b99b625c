"""The places of a board of skill scores, made of what is left when its ranks are known.

Called by `.method`; pure. Of a large board the errors are a lot of memory, and are gone by then.
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
    """The ranked among themselves: their names, by what they are ranked, and their standing; None without any."""

    names: Sequence[str]
    rank_by: str
    standing: BoardStanding | None

    def contrasts(self, shown: Sequence[str]) -> Contrasts:
        """Return what is known pair by pair of some entrants: nothing of who is not ranked."""
        place = {name: at for at, name in enumerate(self.names)}
        return among_others(self.standing, [place.get(name) for name in shown])


@dataclass(frozen=True)
class Places:
    """What places are made of once the ranks are known, without the errors that it was computed from.

    `at` is everybody's column, `bounds` the ranks of who lacks something if it were worst and best, `scores` those of
    everybody who has one.
    """

    roster: Roster
    at: Mapping[str, int]
    bounds: Mapping[str, tuple[int, int] | None]
    scores: Mapping[str, float]

    @classmethod
    def of(cls, among: Among, rank_by: str, scores: Mapping[str, float]) -> "Places":
        """Return those of everybody on the board."""
        names = among.cells.entrants
        bounds = {name: among.bounds(name, rank_by) for name in names}
        return cls(among.roster, {name: at for at, name in enumerate(names)}, bounds, scores)

    def all_of(self, own: Own) -> list[tuple[Place, int]]:
        """Return everybody's place with its column: the ranked by rank, who is behind, who is listed separately."""
        places = [] if own.standing is None else [place for place, _ in own.standing.placed(own.names)]
        return [
            (replace(place, standing=self.roster.standing(name, self.bounds[name])), self.at[name])
            for place in [*places, *unranked_places(self.roster, self.scores)]
            for name in [place.entrant]
        ]
