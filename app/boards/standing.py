"""Ranks and their uncertainty, whatever the method: rank sets, contrasts, groups and letters."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from app.boards.calibrated import MIN_DRAWN_UNITS, DrawnSpread
from app.boards.columns import BoardRow, LikeFirst
from app.boards.coverage import Coverage, Roster
from app.manifest.model import Leaderboard
from app.names import first_few, in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.cluster import POWER
from app.stats.pairs import skill
from app.stats.rank_sets import MANY_SIGNS, AllPairs, RankSets, letter_groups, rank_sets
from app.stats.resample import TIE, Resamples, board_generator, competition_ranks, probability_beats, probability_best
from app.values.frame import Ends
from app.values.table import Cell, CellColumn, Column, Table, finite


@dataclass(frozen=True)
class Gaps:
    """What entrants lack, each [n_entrants].

    `at_worst` is an entrant's score, larger being better, with the worst value in each of its own gaps and all others
    as the board counts them: −inf where there is no worst value, NaN for who has no gap. `delivered` counts the cells
    with a value.
    """

    at_worst: FloatArray
    delivered: IntArray


def filled_gaps(coverages: Sequence[Coverage | None], points: FloatArray) -> Gaps | None:
    """Return the gaps of entrants whose points [n_entrants] count the worst value in each already; None without any.

    Source: none; it counts.

    >>> filled_gaps([Coverage(3, 3), Coverage(3, 2, n_absent=1, is_filled=True)], np.array([0.9, 0.5])).at_worst
    array([nan, 0.5])
    """
    lacks = np.array([each is not None and each.is_filled and each.n_lacking > 0 for each in coverages], dtype=np.bool_)
    if not lacks.any():
        return None
    delivered = np.array([0 if each is None else each.n_included for each in coverages], dtype=np.int64)
    return Gaps(np.where(lacks, points, np.nan), delivered)


def behind_whom(points: FloatArray, gaps: Gaps, known: BoolArray) -> IntArray | None:
    """Return the position of the one that each is behind for its gaps, −1 for nobody, [n_entrants]; None for no one.

    With the worst value in each gap it would be behind the best of those who delivered more; of equals it is the one
    who delivered most. `points` [n_entrants] are the scores by the board's rule. Only entrants with replicates, `known`
    [n_entrants], are compared: of the others nobody can say whether they may be first.
    Source: our rule, docs/statistics.md, "Who may be first with gaps".

    >>> gaps = Gaps(np.array([0.45, np.nan, np.nan]), np.array([8, 9, 9]))
    >>> behind_whom(np.array([0.9, 0.5, 0.4]), gaps, np.ones(3, dtype=bool)).tolist()
    [1, -1, -1]
    """
    scores = np.where(np.isnan(gaps.at_worst), points, gaps.at_worst)
    above, lacks = np.full(len(points), -1), known & ~np.isnan(gaps.at_worst)
    for n_cells in np.unique(gaps.delivered[lacks]).tolist():
        more = np.flatnonzero(known & (gaps.delivered > n_cells))
        if len(more):
            best = points[more].max()
            equals = more[points[more] >= best - TIE]
            is_less = lacks & (gaps.delivered == n_cells) & (scores < best - TIE)
            above[is_less] = equals[np.argmax(gaps.delivered[equals])]
    return above if (above >= 0).any() else None


BY_TEST, BY_RULE, BY_BOTH = "test", "rule for gaps", "rule for gaps and test"
"""What decides who of two is better; a rank interval ends at n − how many are worse by a test, by itself or too."""

DECIDED_BY = (None, BY_TEST, BY_RULE, BY_BOTH)


@dataclass(frozen=True)
class Verdict:
    """Two entrants compared by the board's score: `contrast` is A minus B, larger being better for A.

    Its interval and `p_value` are for this pair alone, `separable` allows for all pairs of the board, and so does
    `word`, where the board says which difference matters or the rule for gaps decides some. None where unknown. `by`
    says what decides, `within` whether the two are shown to differ by less than what matters, whoever is better.
    """

    contrast: Ends
    beats: float | None = None
    p_value: float | None = None
    separable: bool | None = None
    word: str | None = None
    by: str = BY_TEST
    within: bool | None = None


WORDS = (None, "better", "worse", "equivalent", "undecided")
"""What A may be; equivalent, where the board says which difference matters, is within it and not separable."""


RELATIVE_SKILL = "relative_skill"
"""The column of pairs with a contrast of logarithms."""


@dataclass(frozen=True)
class Contrasts:
    """The pairwise results for some entrants of a board, each [n_shown, n_shown]; NaN where unknown.

    `widest` is the width of the range of scores, which no difference can exceed. `within` is given where the board says
    which difference matters, `critical` is the critical value of all pairs on the scale of the normal. `ruled` is
    given where the rule for gaps decides some pairs, in either order, and `both` says of which of these a test says so,
    too. `are_of_logs`: scores are logarithms, and a difference is shown as the skill of A relative to B.
    """

    differences: FloatArray
    margins: FloatArray
    errors: FloatArray
    beats: FloatArray
    p_values: FloatArray
    separated: BoolArray
    is_known: BoolArray
    widest: float = float("inf")
    within: BoolArray | None = None
    critical: float = float("nan")
    ruled: BoolArray | None = None
    both: BoolArray | None = None
    are_of_logs: bool = False

    @property
    def tested(self) -> BoolArray:
        """Say which pairs of two are tested, [n_shown, n_shown]: both are known, and no rule decides."""
        return self._of_two if self.ruled is None else self._of_two & ~self.ruled

    @cached_property
    def _of_two(self) -> BoolArray:
        """Say which pairs are of two entrants that are both known, [n_shown, n_shown]."""
        return np.asarray(self.is_known & ~np.eye(len(self.is_known), dtype=np.bool_))

    @cached_property
    def words(self) -> IntArray:
        """Return what A is, [n_shown, n_shown], as positions in WORDS."""
        within = np.zeros_like(self.is_known) if self.within is None else self.within
        return np.select([~self._of_two, self.separated, self.separated.T, within], [0, 1, 2, 3], 4)

    @cached_property
    def decided_by(self) -> IntArray:
        """Return what decides each pair, [n_shown, n_shown], as positions in DECIDED_BY."""
        ruled = np.zeros_like(self.is_known) if self.ruled is None else self.ruled
        both = np.zeros_like(self.is_known) if self.both is None else self.both
        return np.select([self.tested, both, ruled], [1, 3, 2], 0)

    def verdict(self, a: int, b: int) -> Verdict:
        """Return the verdict on two entrants, by their positions among those shown."""
        difference, margin = float(self.differences[a, b]), float(self.margins[a, b])
        if a == b or not self.is_known[a, b]:
            return Verdict((finite(difference), None, None))
        low, high = max(difference - margin, -self.widest), min(difference + margin, self.widest)
        shown = [finite(float(each)) for each in self._shown(np.array([difference, low, high]))]
        ends = (shown[0], *((None, None) if np.isnan(margin) else shown[1:]))
        separable = bool(self.separated[a, b] or self.separated[b, a])
        beats, p_value = finite(float(self.beats[a, b])), finite(float(self.p_values[a, b]))
        word, by = WORDS[int(self.words[a, b])], DECIDED_BY[int(self.decided_by[a, b])] or BY_TEST
        return Verdict(
            ends, beats, p_value, separable, word, by, None if self.within is None else bool(self.within[a, b])
        )

    def cells(self, *, smallest: float | None = None, is_turned: bool = False) -> list[CellColumn]:
        """Return cells for every ordered pair, row by row: contrast, its ends, P(beats), p-value, separable, verdict.

        The verdict is there where the board says which difference matters, `smallest`, also where nothing is tested, or
        the rule for gaps decides some pairs; whether two are within that difference in the first case alone, what
        decides in the second.

        `is_turned` means that scores were negated: the contrast is turned back to the metric's own sign, low end first.
        """
        is_known = self._of_two
        low, high = (np.clip(self.differences + way * self.margins, -self.widest, self.widest) for way in (-1.0, 1.0))
        squares = [np.where(is_known, values, np.nan) for values in (low, high, self.beats, self.p_values)]
        separable = np.where(is_known, 1 + (self.separated | self.separated.T), 0).astype(np.int8)
        contrast = [self._shown(each) for each in (self.differences, *squares[:2])]
        # Not −x, which would turn 0.0 into −0.0.
        shown = (0.0 - contrast[0], 0.0 - contrast[2], 0.0 - contrast[1]) if is_turned else contrast
        return [
            *map(CellColumn.of_numbers, (*shown, *squares[2:])),
            CellColumn(separable.ravel(), (None, False, True)),
            *self._verdicts(smallest),
        ]

    def _shown(self, differences: FloatArray) -> FloatArray:
        return relative_skill(differences) if self.are_of_logs else differences

    def _verdicts(self, smallest: float | None) -> Iterator[CellColumn]:
        if smallest is not None or self.ruled is not None:
            yield CellColumn(self.words.astype(np.int8).ravel(), WORDS)
        if smallest is not None:
            within = np.zeros_like(self.is_known) if self.within is None else self.within
            yield CellColumn(np.where(self._of_two, 1 + within, 0).astype(np.int8).ravel(), (None, False, True))
        if self.ruled is not None:
            yield CellColumn(self.decided_by.astype(np.int8).ravel(), DECIDED_BY)


@dataclass(frozen=True)
class BoardStanding:
    """Ranks of the points [n_entrants] and, from replicates, their uncertainty; None where there are none.

    `sets` and `all_pairs` cover all entrants, including those without replicates, of whom nothing is known.
    `first_share`, how often each is the best in the resamples, and `groups` cover those with replicates; `first_share`
    is NaN where it is not known. `widest` is the largest possible difference of two scores. `above` [n_entrants]
    is, for who cannot be first for its gaps, the position of the one it is behind, else −1: None where there is none.
    `lacks` [n_entrants] says who has gaps; None where nobody has. `are_logs`: points are those of `log_points`. No
    p-value of a pair is below `least_p` [n_entrants, n_entrants], where that is not None.
    """

    points: FloatArray
    ranks: IntArray
    level: float
    all_pairs: AllPairs | None = None
    sets: RankSets | None = None
    first_share: FloatArray | None = None
    groups: IntArray | None = None
    widest: float = float("inf")
    above: IntArray | None = None
    are_logs: bool = False
    lacks: BoolArray | None = None
    least_p: FloatArray | None = None

    @property
    def has_spread(self) -> BoolArray:
        """Say which entrants have replicates, [n_entrants]."""
        return np.zeros(len(self.points), dtype=np.bool_) if self.all_pairs is None else self.all_pairs.has_spread

    def place(self, at: int, entrant: str) -> BoardRow:
        """Return the place of the entrant at a position; one that is alone on its board has a rank and nothing else.

        Who may not be first by the rule for gaps has no p-value for it: the rule decides whatever a test says.
        """
        rank, sets = int(self.ranks[at]), self.sets
        if sets is None or self.first_share is None or self.groups is None or not self.has_spread[at]:
            return BoardRow(entrant, rank)
        return BoardRow(
            entrant,
            rank,
            int(sets.low[at]),
            int(sets.high[at]),
            bool(sets.may_be_first[at]),
            None if self.is_behind(at) else self._first_p(sets, at),
            finite(float(self.first_share[at])),
            int(self.groups[at]),
            self._like_first(sets, at),
        )

    def _first_p(self, sets: RankSets, at: int) -> float:
        """Return the p-value of being first, at least the smallest that a better entrant may have against this one."""
        better, p = self.points > self.points[at], float(sets.first_p[at])
        return p if self.least_p is None or not better.any() else max(p, float(self.least_p[at, better].min()))

    def is_behind(self, at: int) -> bool:
        """Say whether the entrant at a position cannot be first for its gaps."""
        return self.above is not None and bool(self.above[at] >= 0)

    def _like_first(self, sets: RankSets, at: int) -> LikeFirst | None:
        """Say of one that is not first, and within what matters of all who are, whether it is shown to be worse."""
        firsts = self.ranks == 1
        if sets.within is None or firsts[at] or not sets.within[firsts, at].all():
            return None
        # The rule for gaps shows nobody to be worse.
        shown = sets.separated if sets.tested is None else sets.tested
        return "worse" if shown[firsts, at].any() else "alike"

    def contrasts(self, shown: Sequence[int]) -> Contrasts:
        """Return the pairwise results of the entrants at some positions, in that order."""
        at = np.array(shown, dtype=np.int64)
        if self.all_pairs is None or self.sets is None:
            return replace(without_spread(self.points[at]), are_of_logs=self.are_logs)
        square, has = np.ix_(at, at), self.has_spread[at]
        ruled, both = (None if each is None else (each | each.T)[square] for each in (self.sets.ruled, self.sets.both))
        return Contrasts(
            differences=self.points[at][:, None] - self.points[at][None, :],
            margins=self.all_pairs.margins(at, self.level),
            errors=self.all_pairs.errors(at, at),
            beats=probability_beats(self.all_pairs.replicates[:, at]),
            p_values=np.maximum(self.all_pairs.p_values(at), 0.0 if self.least_p is None else self.least_p[square]),
            separated=self.sets.separated[square],
            is_known=has[:, None] & has[None, :],
            # If scores leave the declared range, its width bounds nothing.
            widest=max(self.widest, float(np.ptp(self.points[at])) if len(at) else 0.0),
            within=None if self.sets.within is None else self.sets.within[square],
            critical=self.sets.critical,
            ruled=ruled,
            both=both,
            are_of_logs=self.are_logs,
        )

    def placed(self, names: Sequence[str]) -> list[tuple[BoardRow, int]]:
        """Return each place with the entrant's position, from best to worst."""
        return [(self.place(at, names[at]), at) for at in self.order(names)]

    def order(self, names: Sequence[str]) -> list[int]:
        """Return positions from best to worst; equal ranks in the order of their names."""
        return sorted(range(len(names)), key=lambda position: (int(self.ranks[position]), names[position]))


def among_others(standing: BoardStanding | None, shown: Sequence[int | None]) -> Contrasts:
    """Return the pairwise results of some entrants, by position; None is an entrant without a rank.

    A pair with such an entrant is unknown, and even its difference is NaN, because scores over different tasks cannot
    be subtracted.
    Source: none; it rearranges.

    >>> standing = stand(np.array([3.0, 1.0]), None, 0.95)
    >>> among_others(standing, [0, None, 1]).differences[0].tolist()
    [0.0, nan, 2.0]
    """
    known = [at for at in shown if at is not None]
    contrasts = without_spread(np.zeros(0)) if standing is None else standing.contrasts(known)
    return of_some(contrasts, [at is not None for at in shown])


def unranked_places(roster: Roster, points: Mapping[str, float]) -> Iterator[BoardRow]:
    """Yield the places below the ranked: those behind, best first, then those without a rank by name.

    `points` are scores, larger being better; NaN is none. No place here has a rank interval.
    Source: `Roster`.

    >>> roster = Roster(("A",), (("B", "C"),), ("D",), {}, False)
    >>> [(place.entrant, place.rank) for place in unranked_places(roster, {"B": 1.0, "C": 2.0})]
    [('C', 2), ('B', 3), ('D', None)]
    """
    ranks = roster.behind_ranks({name: point for name, point in points.items() if not np.isnan(point)})
    yield from (BoardRow(name, rank) for name, rank in sorted(ranks.items(), key=lambda item: (item[1], item[0])))
    others = [name for group in (*roster.behind, roster.apart) for name in group if name not in ranks]
    yield from map(BoardRow, sorted(others))


def draw_tasks(spec: Leaderboard, n_tasks: int) -> Resamples | None:
    """Return the resampled tasks of the board's stream; None for a single task, and without resamples.

    Source: `app.stats.resample`; the stream `fev` is numpy's `default_rng(rng_seed)`, as in fev 0.10.

    >>> from app.boards.methods.mean import Mean
    >>> draw_tasks(Mean(name="main", method="mean", metric="error"), 1) is None
    True
    """
    drawn = spec.uncertainty
    if n_tasks < MIN_DRAWN_UNITS or not drawn.n_resamples:
        return None
    board = None if drawn.stream == "fev" else spec.name
    return Resamples(n_tasks, drawn.n_resamples, partial(_generator, drawn.rng_seed, board))


def _generator(rng_seed: int, board: str | None) -> np.random.Generator:
    return np.random.default_rng(rng_seed) if board is None else board_generator(rng_seed, board, "tasks")


def stand(
    points: FloatArray,
    spread: DrawnSpread | None,
    level: float,
    *,
    widest: float = float("inf"),
    gaps: Gaps | None = None,
    smallest: float | None = None,
    over_snapshots: bool = False,
    are_logs: bool = False,
) -> BoardStanding:
    """Rank the points [n_entrants], larger being better, with the uncertainty of the ranks from their spread.

    `widest` is the width of the range of the scores, `smallest` the smallest difference that matters, if the board has
    one, and `over_snapshots` whether decisions hold over all snapshots: see `app.stats.rank_sets.rank_sets`. Without a
    spread, None, and for an entrant alone on its board only the rank is known; an entrant without replicates has no
    rank interval. `are_logs`: points, spread, `widest` and `gaps` are those of `log_points`, and `smallest` is a
    relative skill.

    Points follow the rule that a board declares for what is missing. Who has `gaps`, and with the worst value in each
    of them a score below the best of those who delivered more, is worse than that one in the matrix of decisions, so it
    may not be first, whatever its rank: what it left out can only have been for its good. Where nobody delivered more,
    gaps decide nothing. Where such a one is the best in some resamples, the others' share of them is unknown, NaN: to
    share the resamples out among them would say that they are the best more often than they are.
    Raises InvalidArgument for points that are NaN and for a level outside (0, 1).
    Source: `app.stats.rank_sets` for the intervals; `app.stats.resample.competition_ranks` for the ranks.

    >>> stand(np.array([0.5, 0.9, 0.5]), None, 0.95).ranks.tolist()
    [2, 1, 2]
    >>> rng = np.random.default_rng(1)
    >>> points = np.array([0.9, 0.5, 0.4])
    >>> spread = DrawnSpread.of_units(points + rng.normal(size=(200, 3)), 10)
    >>> standing = stand(points, spread, 0.95, gaps=Gaps(np.array([0.45, np.nan, np.nan]), np.array([8, 9, 9])))
    >>> [(place.rank, place.rank_low, place.may_be_first) for place, _ in standing.placed("ABC")]
    [(1, 2, False), (2, 1, True), (3, 1, True)]
    """
    if not len(points):
        return BoardStanding(points, np.zeros(0, dtype=np.int64), level, are_logs=are_logs)
    ranks = competition_ranks(points)
    if spread is None or len(points) < 2 or all(each is None for each in spread.precision):
        return BoardStanding(points, ranks, level, are_logs=are_logs)
    all_pairs = AllPairs(points, spread.replicates, spread.freedom, spread.inflation, spread.wide, spread.are_ranks,
                        over_snapshots, spread.by_unit)  # fmt: skip
    above = None if gaps is None else behind_whom(points, gaps, all_pairs.has_spread)
    # A version of before may say that no skill matters.
    matters = float(log_points(np.minimum(smallest, 1.0))) if are_logs and smallest is not None else smallest
    sets = rank_sets(all_pairs, level, above=above, smallest=matters)
    known = np.flatnonzero(all_pairs.has_spread)
    share, groups = np.full(len(points), np.nan), np.zeros(len(points), dtype=np.int64)
    share[known] = probability_best(spread.replicates[:, known])
    if above is not None:
        share = np.where(above >= 0, 0.0, np.nan if share[above >= 0].any() else share)
    order = known[np.argsort(ranks[known], kind="stable")]
    groups[order] = sets.groups(order)
    lacks = None if gaps is None else ~np.isnan(gaps.at_worst)
    return BoardStanding(points, ranks, level, all_pairs, sets, share, groups, widest, above, are_logs, lacks)


def log_points(skills: FloatArray) -> FloatArray:
    """Return skill scores as minus the mean logarithm of relative errors, of any shape; larger is better.

    Skills are compared so: who has thirty times the error of another has a spread of the skill that is as much larger,
    and would hide in it; and the baseline is no part of the logarithms' difference. A skill of 1 is infinite; NaN
    stays.
    Source: the inverse of `app.stats.pairs.skill`.

    >>> log_points(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 0.6931]
    """
    with np.errstate(divide="ignore"):
        points: FloatArray = -np.log1p(-skills)
    return points


def relative_skill(differences: FloatArray) -> FloatArray:
    """Return differences A minus B of `log_points`, of any shape, as the skill of A relative to B.

    It is 1 − the geometric mean of A's errors over B's, at most 1; larger is better for A. NaN stays.
    Source: `app.stats.pairs.skill`.

    >>> relative_skill(log_points(np.array([0.5, 0.0])) - log_points(np.array([0.0, 0.5]))).round(4).tolist()
    [0.5, -1.0]
    """
    return skill(0.0 - differences)


MOST_PAIRED = 200
"""Entrants, the best, whose pairs the detectable difference is the median of: more would not move a median."""

FEWEST_RANKED, OF_RANKS = 10, 0.9
"""From so many entrants on the error of a difference of ranks hardly depends on which two they are, and this share of
the pairs of them is found with the power: `tests/boards/test_contrasts.py` simulates it."""


def power_meta(standing: BoardStanding | None, scale: float = 1.0) -> dict[str, Any]:
    """Return `power` of a board's `meta`: the difference of two entrants that this design finds with 80 %.

    With all `n_pairs` tested at once: `difference` by the median of the pairs, and `of_first` that of the first two,
    None where these are not tested; either is None where it would be larger than any two scores can differ, or none can
    be found. In the unit of the board's points times `scale`, or where `score` names another, in that. `freedom` are
    the degrees of freedom of a typical pair, where there is a difference that can be found; `possible` is false, and
    else absent, where no results of so few units could tell anybody apart. `complete` is true, and else absent, where
    somebody has gaps and a typical pair is one of those that have none: what stands in a gap counts as a result, and
    spreads a difference as no result would. Of scores that move in steps, and of ranks of few entrants or over few
    units, the error depends on the difference, so neither is known. Of other ranks it does a little: `difference` is
    that of `share_of_pairs`, nine in ten, and `of_first` and `freedom` are unknown. Empty where nothing is tested.
    Source: Bloom 1995, Minimum detectable effects, with the critical value of all pairs and the noncentral t.

    >>> power_meta(stand(np.array([3.0, 1.0]), None, 0.95))
    {}
    """
    if standing is None or standing.all_pairs is None or standing.sets is None:
        return {}
    pairs, sets = standing.all_pairs, standing.sets
    at = np.argsort(standing.ranks, kind="stable")[:MOST_PAIRED]
    above, errors = np.triu_indices(len(at), 1), pairs.errors(at, at)
    degrees = pairs.pair_freedom(at, at)
    found = pairs.to_be_found(sets.critical, POWER, at) * errors
    found = np.where(pairs.can_be_apart(sets.critical, at), found, np.inf)
    if sets.ruled is not None:
        found[(sets.ruled | sets.ruled.T)[np.ix_(at, at)]] = np.nan
    lacks = np.zeros(len(at), dtype=np.bool_) if standing.lacks is None else standing.lacks[at]
    is_typical, are_complete = _typical(found[above], (lacks[:, None] | lacks[None, :])[above])
    known = found[above][is_typical]
    critical = pairs.one_look(sets.critical)
    # Over snapshots so few units as two to four tell nobody apart, however far.
    if not len(known) or not np.isfinite(critical):
        return {}
    n = len(standing.points)
    about: dict[str, Any] = {"power": POWER, "critical": round(critical, 4), "n_pairs": n * (n - 1) // 2}
    # Below the bound of all pairs no results would bring the critical value; over snapshots it depends on none.
    least = sets.critical if pairs.over_snapshots else pairs.safe(standing.level)
    if not pairs.can_be_apart(least, at)[above].any():
        about["possible"] = False
    freedom = float(np.median(degrees[above][is_typical]))
    if pairs.wide is not None or (pairs.are_ranks and (n < FEWEST_RANKED or freedom < MANY_SIGNS)):
        return {"power": about}
    sizes = np.array([np.quantile(known, OF_RANKS), np.nan] if pairs.are_ranks else [np.median(known), found[0, 1]])
    shown = relative_skill(sizes) if standing.are_logs else scale * sizes
    typical, of_first = (
        finite(float(each)) if size <= standing.widest else None for size, each in zip(sizes, shown, strict=True)
    )
    if standing.are_logs:
        about["score"] = "the skill of one relative to the other"
    about |= {"difference": typical, "of_first": of_first}
    if lacks.any() and are_complete:
        about["complete"] = True
    if pairs.are_ranks:
        about["share_of_pairs"] = OF_RANKS
    elif np.isfinite(known).any():
        about["freedom"] = round(freedom, 3)
    return {"power": about}


def _typical(found: FloatArray, lack: BoolArray) -> tuple[BoolArray, bool]:
    """Return which pairs, [n_pairs], a difference is typical of: those that lack nothing, if any; then True."""
    of_complete = ~np.isnan(found) & ~lack
    return (of_complete, True) if of_complete.any() else (~np.isnan(found), False)


def uncertainty_meta(spec: Leaderboard, n_units: int, n_together: int | None = None) -> dict[str, Any]:
    """Return how intervals were computed, for a table's `meta`; where there are none, None and the reason.

    `n_together` are the most units that are resampled among themselves, all where it is None.

    >>> from app.boards.methods.mean import Mean
    >>> uncertainty_meta(Mean(name="main", method="mean", metric="error"), 1)["interval_reason"]
    'too_few_clusters'
    """
    drawn = spec.uncertainty
    reason = "not_asked_for" if not drawn.n_resamples else None
    if reason is None and (n_units if n_together is None else n_together) < MIN_DRAWN_UNITS:
        reason = "too_few_clusters"
    return {
        "interval": "percentile bootstrap over tasks" if reason is None else None,
        "interval_reason": reason,
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
        "n_tasks": n_units,
    }


def without_spread(points: FloatArray) -> Contrasts:
    """Return only the differences of points [n_shown], larger being better; without replicates all else is NaN.

    Source: row minus column.

    >>> without_spread(np.array([3.0, 1.0])).differences.tolist()
    [[0.0, 2.0], [-2.0, 0.0]]
    """
    unknown = np.full((len(points),) * 2, np.nan)
    nothing = np.zeros(unknown.shape, dtype=np.bool_)
    return Contrasts(points[:, None] - points[None, :], unknown, unknown, unknown, unknown, nothing, nothing)


# The contrast between two entrants of a board: how much their scores differ, and how certain that is.
#
# Computed by `app.boards.standing`, shown in every table of pairs. The verdict is the board's: whether two are
# separable allows for all pairs being compared.


def of_some(known: Contrasts, has_contrasts: Sequence[bool]) -> Contrasts:
    """Spread known contrasts over more entrants; `has_contrasts` [n_shown] marks those that `known` is about, in order.

    For the others everything is unknown: NaN, or False.
    Source: none; it rearranges.

    >>> of_some(without_spread(np.array([3.0, 1.0])), [True, False, True]).differences.tolist()
    [[0.0, nan, 2.0], [nan, nan, nan], [-2.0, nan, 0.0]]
    """
    place = np.flatnonzero(has_contrasts)
    square, shape = np.ix_(place, place), (len(has_contrasts), len(has_contrasts))

    def spread(values: FloatArray) -> FloatArray:
        whole = np.full(shape, np.nan)
        whole[square] = values
        return whole

    def flags(values: BoolArray) -> BoolArray:
        whole = np.zeros(shape, dtype=np.bool_)
        whole[square] = values
        return whole

    return Contrasts(
        differences=spread(known.differences),
        margins=spread(known.margins),
        errors=spread(known.errors),
        beats=spread(known.beats),
        p_values=spread(known.p_values),
        separated=flags(known.separated),
        is_known=flags(known.is_known),
        widest=known.widest,
        within=None if known.within is None else flags(known.within),
        critical=known.critical,
        are_of_logs=known.are_of_logs,
        ruled=None if known.ruled is None else flags(known.ruled),
        both=None if known.both is None else flags(known.both),
    )


# Who on a board shares a letter: entrants that its pairwise comparisons do not separate.

NAMED = 4
"""Names that a note lists."""

MOST = 60
"""At most this many entrants, the best-ranked, get letters; more would not be readable."""

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

ALIKE = "A bar reaches from the first to the last rank of those from whom an entrant is not separable."

READ = "Of those who have letters, two with one in common cannot be told apart; any others can."

NOBODY = "Nobody is ranked and compared pair by pair yet."


def letters_table(board: Table, pairwise: Table | None) -> Table:
    """Return the ranked entrants of a board, best first; two that are not separable share a letter.

    The score is the column that ranks, in its unit and with its interval; `alike_low` to `alike_high` are the ranks of
    those who are not separable from an entrant. Letters are null where there would be too many groups. Raises nothing:
    without ranks or pairs the table is empty and says why.

    >>> columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("s", "Score"))
    >>> board = Table("leaderboard/b", "B", columns, ((1, "A", 2.0), (2, "B", 1.0)), (), {"rank_by": "s"})
    >>> pair = (Column("entrant_a", "A"), Column("entrant_b", "B"), Column("separable", "Separable"))
    >>> rows = (("A", "B", True), ("B", "A", True))
    >>> [row[-1] for row in letters_table(board, Table("pairwise/b", "B", pair, rows)).rows]
    ['a', 'b']
    """
    name = board.name.partition("/")[2]
    title = f"{board.title}: who cannot be told apart"
    ranked, score = _ranked(board), score_column(board)
    compared = {} if pairwise is None else separable_pairs(pairwise)
    rows = [record for record in ranked if any((record["entrant"], other["entrant"]) in compared for other in ranked)]
    if score is None or len(rows) < 2:
        return Table(f"letters/{name}", title, (), (), (NOBODY,), {"unavailable": NOBODY})
    lettered = rows[:MOST]
    letters = _letters([str(row["entrant"]) for row in lettered], compared) or []
    reach = [_alike(row, rows, compared) for row in rows]
    low, high = score.interval or ("", "")
    cells: list[tuple[Cell, ...]] = [
        (
            row["rank"],
            row["entrant"],
            row[score.name],
            row.get(low),
            row.get(high),
            *reach[at],
            letters[at] if at < len(letters) else None,
        )
        for at, row in enumerate(rows)
    ]
    notes = [ALIKE, *([READ] if letters else []), *caveats_of(pairwise)]
    shown = {row["entrant"] for row in rows}
    n_ruled = (
        0 if pairwise is None else len({frozenset(pair) for pair in ruled_pairs(pairwise) if shown.issuperset(pair)})
    )
    if n_ruled:
        are = "is" if n_ruled == 1 else "are"
        notes.append(f"Of the pairs told apart, {n_ruled:,} {are} by the rule for missing results alone.")
    unranked = [str(record["entrant"]) for record in board.records() if record.get("rank") is None]
    if unranked:
        notes.append(f"Compared with nobody, for want of a rank: {first_few(unranked, NAMED, in_words)}.")
    if not letters:
        notes.append("Nobody has letters: there would be too many groups to read.")
    if len(rows) < len(ranked):
        notes.append(
            f"Only the best {len(rows)} of {len(ranked)} are here: bars end with them, and who else is not counted."
        )
    notes += [f"Only the best {MOST} have letters."] if letters and len(rows) > MOST else []
    plot = {"kind": "ranks", "label": "entrant", "x": "score", "low": "score_low", "high": "score_high",
            "groups": "letters"}  # fmt: skip
    meta = {"plot": plot, "rank_by": "score", **{key: board.meta[key] for key in ("level",) if key in board.meta}}
    return Table(f"letters/{name}", title, _columns(score), tuple(cells), tuple(notes), meta)


def _alike(
    row: Mapping[str, Cell], rows: Sequence[Mapping[str, Cell]], compared: Mapping[tuple[Cell, Cell], bool]
) -> tuple[Cell, Cell, Cell]:
    """Return the first and the last rank of those whom an entrant is not told apart from, and how many they are."""
    others = [other for other in rows if compared.get((row["entrant"], other["entrant"])) is False]
    ranks = [int(str(each["rank"])) for each in (row, *others)]
    return min(ranks), max(ranks), len(others)


def _columns(score: Column) -> tuple[Column, ...]:
    ends = (f"{score.title}, {end}" for end in ("low", "high"))
    return (
        Column("rank", "Rank", "integer"),
        Column("entrant", "Entrant", "text"),
        Column("score", score.title, unit=score.unit, direction=score.direction, interval=("score_low", "score_high"),
               glossary=score.glossary, digits=score.digits),
        *(Column(f"score_{end}", title, detail=True, digits=score.digits)
          for end, title in zip(("low", "high"), ends, strict=True)),
        Column("alike_low", "Not told from, first rank", "integer", detail=True, glossary="n_alike"),
        Column("alike_high", "Not told from, last rank", "integer", detail=True, glossary="n_alike"),
        Column("n_alike", "How many", "integer", glossary="n_alike"),
        Column("letters", "Letters", "text", optional=True, glossary="letters"),
    )  # fmt: skip


def _ranked(board: Table) -> list[dict[str, Cell]]:
    if not {"rank", "entrant"} <= set(board.column_names()):
        return []
    known = [record for record in board.records() if isinstance(record["rank"], int)]
    return sorted(known, key=lambda record: (int(record["rank"] or 0), str(record["entrant"])))


def score_column(board: Table) -> Column | None:
    """Return the column that ranks a board where it names one, else its first number with an interval; None without.

    Source: none; it selects a column.

    >>> columns = (Column("rank", "Rank", "integer"), Column("s", "Score"))
    >>> score_column(Table("leaderboard/b", "B", columns, (), (), {"rank_by": "s"})).name
    's'
    """
    named = [column for column in board.columns if column.name == board.meta.get("rank_by")]
    scored = [column for column in board.columns if column.kind == "number" and column.interval is not None]
    return next(iter([*named, *scored]), None)


def separable_pairs(pairwise: Table) -> Mapping[tuple[Cell, Cell], bool]:
    """Return of each pair that was compared, by both names, whether it is separable; nothing of a table without pairs.

    Source: none; it rearranges rows.

    >>> columns = (Column("entrant_a", "A"), Column("entrant_b", "B"), Column("separable", "Separable"))
    >>> separable_pairs(Table("pairwise/b", "Pairs", columns, (("A", "B", True), ("A", "A", None))))
    {('A', 'B'): True}
    """
    if not {"entrant_a", "entrant_b", "separable"} <= set(pairwise.column_names()):
        return {}
    a, b, known = (pairwise.index(name) for name in ("entrant_a", "entrant_b", "separable"))
    return {(row[a], row[b]): row[known] is True for row in pairwise.rows if row[known] is not None}


CAVEATS = "caveats"
"""In `meta` of a table of pairs: the notes that every page needs which says who is told apart."""


def caveats_of(pairwise: Table | None) -> Sequence[str]:
    """Return what a reader must know of all comparisons of a table of pairs; nothing without one.

    >>> caveats_of(None)
    ()
    """
    return () if pairwise is None else tuple(pairwise.meta.get(CAVEATS, ()))


def ruled_pairs(pairwise: Table) -> Collection[tuple[Cell, Cell]]:
    """Return the pairs that the rule for gaps decides and no test does: who is before whom, by their names.

    A table of before 0.2.0, whose verdict is null, does not say who, and has each such pair in both orders.
    Source: none; it selects rows.

    >>> columns = tuple(Column(name, name) for name in ("entrant_a", "entrant_b", "verdict", "decided_by"))
    >>> rows = (("A", "B", "worse", BY_RULE), ("B", "A", "better", BY_RULE), ("A", "C", "better", BY_BOTH))
    >>> ruled_pairs(Table("pairwise/b", "Pairs", columns, rows))
    {('B', 'A')}
    """
    records = pairwise.records() if "decided_by" in pairwise.column_names() else ()
    ruled = (row for row in records if row["decided_by"] == BY_RULE and row.get("verdict") != "worse")
    return {(row["entrant_a"], row["entrant_b"]) for row in ruled}


def _letters(names: list[str], compared: Mapping[tuple[Cell, Cell], bool]) -> list[str] | None:
    apart = np.array([[compared.get((a, b), False) for b in names] for a in names], dtype=np.bool_)
    groups = letter_groups(apart)
    if groups is None or len(groups) > len(ALPHABET):
        return None
    return ["".join(ALPHABET[g] for g, group in enumerate(groups) if at in group) for at in range(len(names))]
