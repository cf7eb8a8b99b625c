"""Forensics of rows: patterns that honest runs hardly ever show, within one submission and against earlier ones.

Pure and vectorised: it costs a few sorts of the rows, those of one submission in the process that reads it. Nothing
here refuses a run, because each finding may have an innocent reason (a partner that does nothing, a model under two
names); it is shown beside the result.

Why: docs/adr/016-flags.md.
"""

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from math import lgamma, log

import numpy as np
from confusable_homoglyphs.confusables import confusables_data
from numpy.typing import NDArray
from scipy.special import gammainc

from app.admission.case import Case, Check, Earlier, in_utc, is_after, listed, some
from app.manifest.model import Manifest, Metric
from app.names import name_key
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.facts import EXACT_BEST, FLAGS, ONE_VALUE, Finding, Forensics
from app.values.fingerprints import (
    N_CONTENTS,
    Fingerprint,
    Hashes,
    Sampled,
    content_hashes,
    fingerprints_of,
    hash_values,
    many_digits,
    mix,
    n_other_results,
    place_hashes,
    shared_contents,
)
from app.values.scores import Coded, PredictionBlock, ScoreTable

MIN_REPEATED = 3

REPEATED_SHARE = 0.5
"""A flag needs half of the rows of a seed, a condition or an entrant to occur elsewhere."""

ALIKE_SHARE = 0.3
"""Shared contents as a share of the union: the value for two equal-sized entrants that share half of their rows."""

MIN_CONTENTS = 5

MIN_RUN = 8

DISTINCT_SHARE = 0.5
"""A run of equal numbers is remarkable only where the other numbers mostly differ."""

NEAR_ROWS_FLAG, NEAR_SEEDS_FLAG = "near_rows", "near_seeds"

SAME = frozenset({"same_rows", "same_results"})
"""The flags of an entrant with the very rows of another."""


def look_within(scores: ScoreTable, blocks: Sequence[PredictionBlock] = ()) -> Forensics:
    """Return the fingerprints of a submission and the findings from its own rows."""
    fingerprints = fingerprints_of(scores, blocks)
    findings = [*_of_rows(scores), *_of_blocks(blocks)]
    copied = {finding.entrant for finding in findings if finding.flag == "same_rows"}
    repeated = {finding.entrant for finding in findings if finding.flag == "repeated_seed"}
    if (by_seed := SeedRows.of(scores)) is not None:
        findings += [twin for twin in seed_twins(by_seed) if twin.entrant not in repeated]
        repeated |= {finding.entrant for finding in findings if finding.flag == "same_seeds"}
        findings += [moved for moved in shuffled_seeds(by_seed) if moved.entrant not in repeated]
        repeated |= {finding.entrant for finding in findings if finding.flag == "shuffled_seeds"}
        findings += [steady for steady in steady_seeds(by_seed) if steady.entrant not in repeated]
        findings += [near for near in near_seeds(by_seed) if near.entrant not in repeated]
    findings += [twin for twin in twins_within(fingerprints) if twin.entrant not in copied]
    return Forensics(fingerprints, tuple(findings))


def compare(new: Sequence[Fingerprint], earlier: Sequence[Earlier]) -> Iterator[Finding]:
    """Yield findings against earlier submissions: changed results of the same entrant, or another entrant's rows.

    Entrants are looked up instead of compared pairwise: a submission may have as many entrants as rows. Who had these
    results before another sent them repeats nobody, however often it sends them again, unless it had them as a copy.
    """
    same = _of_same(earlier)
    others = _Others([one for one in earlier if not one.is_same])
    for mine in new:
        own = same.get(name_key(mine.entrant), ())
        for one in own:
            yield from _other_results(mine, one)
        for one in others.alike(mine):
            found = list(_another_s_rows(mine, one))
            if found and not _had_rows_before(mine, one, _by_right(own, one.submission, SAME)):
                yield from found


def _of_same(earlier: Sequence[Earlier]) -> Mapping[str, Sequence[Earlier]]:
    same: dict[str, list[Earlier]] = {}
    for one in earlier:
        if one.is_same:
            same.setdefault(name_key(one.fingerprint.entrant), []).append(one)
    return same


class _Others:
    """Earlier evidence of others, indexed by what it may share with an entrant's: a content hash, or the sample."""

    def __init__(self, earlier: Sequence[Earlier]) -> None:
        self._earlier = earlier
        self._places: dict[Hashable, list[int]] = {}
        for at, one in enumerate(earlier):
            for key in _keys(one.fingerprint):
                self._places.setdefault(key, []).append(at)

    def alike(self, mine: Fingerprint) -> list[Earlier]:
        """Return those that may lead to a finding, in their order."""
        places = {at for key in _keys(mine) for at in self._places.get(key, ())} if self._places else set()
        return [self._earlier[at] for at in sorted(places)]


def _keys(one: Fingerprint) -> Iterator[Hashable]:
    yield from one.contents
    yield one.places, one.sample.tobytes()


def _by_right(own: Sequence[Earlier], submission: int, of_copies: Set[str]) -> list[Fingerprint]:
    """Return what an entrant had before a submission, but for what was flagged as a copy itself.

    The other may send its rows once more, or corrected, after they were copied: then the copy is the older one.
    """
    return [one.fingerprint for one in own if one.submission < submission and of_copies.isdisjoint(one.flags)]


def _had_rows_before(mine: Fingerprint, one: Earlier, before: Sequence[Fingerprint]) -> bool:
    """Say whether an entrant had another's rows before: some that raise a flag, and too few others that do.

    Of a submission with more rows than are kept, contents beyond the largest kept one are not known to be others.
    """
    if not any(list(_another_s_rows(each, one)) for each in before):
        return False
    had = {content for each in before for content in each.contents}
    ends = [each.contents[-1] for each in before if len(each.contents) == N_CONTENTS]
    known_up_to = min(map(_unsigned, ends), default=2**64)
    new = [content for content in mine.contents if content not in had and _unsigned(content) <= known_up_to]
    return _share_of_rows(new, one.fingerprint.contents) < ALIKE_SHARE


def _unsigned(content: int) -> int:
    """Return a hash as it was ordered when the smallest were kept; the database has signed numbers alone."""
    return content % 2**64


def check_forensics(findings: Sequence[Finding], *, was_compared: bool) -> list[Check]:
    """Return a check for each raised flag, or one saying that there is none."""
    raised: dict[str, list[str]] = {}
    for finding in findings:
        raised.setdefault(finding.flag, []).append(finding.sentence)
    if raised:
        return [Check(flag, "warned", f"{FLAGS[flag]}: {some(raised[flag])}.") for flag in FLAGS if flag in raised]
    where = "within the submission or in earlier ones" if was_compared else "within the submission"
    return [Check("forensics", "passed", f"No repeated rows, equal runs or rows of another entrant {where}.")]


def _other_results(mine: Fingerprint, one: Earlier) -> Iterator[Finding]:
    n_other, n_both = n_other_results(mine, one.fingerprint)
    if n_other:
        what = f"{mine.entrant} in submission {one.submission}, {n_other} of {n_both} rows that were compared"
        yield Finding("other_results", mine.entrant, what)
    elif mine.places == one.fingerprint.places and mine.results != one.fingerprint.results:
        yield Finding("other_results", mine.entrant, f"{mine.entrant} in submission {one.submission}, some rows")


def _another_s_rows(mine: Fingerprint, one: Earlier) -> Iterator[Finding]:
    old = one.fingerprint
    share = _share_of_rows(mine.contents, old.contents)
    if share < ALIKE_SHARE:
        yield from twin_of(mine, old, f"submission {one.submission}")
    else:
        what = f"{mine.entrant} has about {share:.0%} of its rows in common with {old.entrant}"
        yield Finding("same_rows", mine.entrant, f"{what} (submission {one.submission})")


def _share_of_rows(new: Sequence[int], old: Sequence[int]) -> float:
    """Return the share of contents that two have in common; 0.0 where either has too few to tell."""
    return shared_contents(new, old) if min(len(new), len(old)) >= MIN_CONTENTS else 0.0


def _of_rows(scores: ScoreTable) -> Iterator[Finding]:
    contents = content_hashes(scores)
    known = np.flatnonzero(contents)
    if not len(known):
        return
    rows = _Known(scores, known, contents[known])
    if scores.seed is not None:
        yield from rows.repeats("repeated_seed", scores.seed[known], str)
    if scores.condition is not None:
        words = [*scores.condition.words, "no condition"]
        yield from rows.repeats("repeated_condition", scores.condition.codes[known], lambda code: words[code])
    task = scores.task.codes[known].astype(np.uint64)
    yield from _repeated_entrants(scores.entrant.words, task, scores.entrant.codes[known], rows.contents)
    yield from _runs(scores.entrant.words, scores.entrant.codes, contents)


@dataclass(frozen=True)
class _Known:
    """The rows with many-digit values: their positions, and a hash of those values."""

    scores: ScoreTable
    rows: IntArray
    contents: Hashes

    def repeats(self, flag: str, side: IntArray, name: Callable[[int], str]) -> Iterator[Finding]:
        """Yield each entrant with a side (seed, condition) half of whose rows also occur under another side."""
        entrant, task = self.scores.entrant.codes[self.rows], self.scores.task.codes[self.rows]
        unit = mix(entrant.astype(np.uint64), task.astype(np.uint64))
        shared = _is_shared(unit, side, self.contents)
        if not shared.any():
            return
        _, first, cell = np.unique(mix(unit, side.astype(np.uint64)), return_index=True, return_inverse=True)
        n_rows, n_shared = np.bincount(cell), np.bincount(cell[shared], minlength=len(first))
        by_run: dict[tuple[int, int], list[int]] = {}
        for at in np.flatnonzero(n_shared >= np.maximum(1, REPEATED_SHARE * n_rows)).tolist():
            by_run.setdefault((int(entrant[first[at]]), int(task[first[at]])), []).append(at)
        for (who, where), cells in by_run.items():
            if (n := int(n_shared[cells].sum())) >= MIN_REPEATED:
                run = f"{self.scores.entrant.words[who]} on {self.scores.task.words[where]}"
                shown = listed([name(int(side[first[at]])) for at in cells])
                yield Finding(flag, self.scores.entrant.words[who], f"{run}, {n:,} rows of {shown}")


def _repeated_entrants(words: Sequence[str], unit: Hashes, entrant: IntArray, contents: Hashes) -> Iterator[Finding]:
    shared = _is_shared(unit, entrant, contents)
    n_rows, n_shared = np.bincount(entrant, minlength=len(words)), np.bincount(entrant[shared], minlength=len(words))
    for at in np.flatnonzero(n_shared >= np.maximum(MIN_REPEATED, REPEATED_SHARE * n_rows)).tolist():
        what = f"{words[at]} has {int(n_shared[at]):,} of {int(n_rows[at]):,} rows in common with another entrant"
        yield Finding("same_rows", words[at], f"{what} of this submission")


def _is_shared(unit: Hashes, side: IntArray, contents: Hashes) -> BoolArray:
    """Say, for each row, whether its content also occurs under another side of the same unit."""
    key = mix(unit, contents)
    order = np.lexsort((side, key))
    starts = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))
    sides = side[order]
    differs = np.minimum.reduceat(sides, starts) != np.maximum.reduceat(sides, starts)
    shared = np.empty(len(key), dtype=np.bool_)
    shared[order] = np.repeat(differs, np.diff(starts, append=len(key)))
    return shared


def _of_blocks(blocks: Sequence[PredictionBlock]) -> Iterator[Finding]:
    if not blocks:
        return
    hashes = [many_digits(block.values) for block in blocks]
    names = list(dict.fromkeys(block.entrant for block in blocks))
    contents = np.concatenate(hashes)
    entrant = np.repeat([names.index(block.entrant) for block in blocks], [len(each) for each in hashes])
    known = contents != 0
    if known.any():
        yield from _repeated_entrants(
            names, np.zeros(int(known.sum()), dtype=np.uint64), entrant[known], contents[known]
        )
        yield from _runs(names, entrant, contents)


def _runs(words: Sequence[str], entrant: IntArray, contents: Hashes) -> Iterator[Finding]:
    """Yield the longest run of equal contents of each entrant, where the rows around it mostly differ."""
    breaks = (contents[1:] != contents[:-1]) | (entrant[1:] != entrant[:-1])
    starts = np.flatnonzero(np.concatenate([[True], breaks]))
    lengths = np.diff(starts, append=len(contents))
    lengths[contents[starts] == 0] = 0
    longest: dict[int, int] = {}
    for at in np.argsort(-lengths, kind="stable")[: (lengths >= MIN_RUN).sum()].tolist():
        longest.setdefault(int(entrant[starts[at]]), at)
    for who, at in longest.items():
        mine = contents[entrant == who]
        others = mine[mine != contents[starts[at]]]
        if len(others) >= MIN_RUN and len(np.unique(others)) > DISTINCT_SHARE * len(others):
            yield Finding("equal_run", words[who], f"{words[who]} has {int(lengths[at])} in a row")


# Entrants with the same results row by row, even where results are only 0/1. The bound considers chance alone: if one
# entrant's results were shuffled among its rows, only one of all arrangements would agree with the other's. Easy and
# hard items make agreement likelier than that, so it is flagged and not refused.

LEAST_ARRANGEMENTS = 1e9
"""One in a billion by chance: a benchmark has thousands of pairs of entrants rather than millions."""

LEAST_OF_A_SEED = 10.0
"""Several seeds alike are less likely than two, but so few rows that nearly everybody has them so say nothing."""


def ln_arrangements(results: Hashes) -> float:
    """Return the logarithm of how many ways there are to arrange some results among their rows.

    n! / (n₁! n₂! …), where nᵢ rows have the same result.

    >>> round(np.exp(ln_arrangements(np.array([1, 1, 0, 0], dtype=np.uint64))))
    6
    """
    counts = np.unique(results, return_counts=True)[1]
    return lgamma(len(results) + 1) - sum(lgamma(count + 1) for count in counts.tolist())


def are_twins(first: Fingerprint, second: Fingerprint) -> bool:
    """Say whether two have the same rows and, on the sampled ones, equal results that chance cannot explain."""
    if first.places != second.places or not np.array_equal(first.sample, second.sample):
        return False
    return ln_arrangements(first.sample[1]) >= log(LEAST_ARRANGEMENTS)


def twin_of(mine: Fingerprint, other: Fingerprint, where: str) -> Iterator[Finding]:
    """Yield the finding that an entrant has the results of another one, from `where`."""
    if are_twins(mine, other):
        sentence = f"{mine.entrant} has on all of {mine.sample.shape[1]:,} compared rows the results of {other.entrant}"
        yield Finding("same_results", mine.entrant, f"{sentence} ({where})")


def twins_within(fingerprints: Sequence[Fingerprint]) -> Iterator[Finding]:
    """Yield which entrants of one submission have the results of another entrant in it."""
    alike = sorted(fingerprints, key=lambda one: (one.places, one.results, one.entrant))
    for first, second in pairwise(alike):
        yield from twin_of(second, first, "in this submission")


@dataclass(frozen=True)
class SeedRows:
    """Rows by entrant and seed, with hashes of their places without the seed and of their results, each [n_rows].

    `order` [n_rows] lists the rows seed by seed, each of one entrant; `starts` is where each such seed begins there.
    """

    scores: ScoreTable
    places: Hashes
    results: Hashes
    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, scores: ScoreTable) -> "SeedRows | None":
        """Return the rows of a table; None where seeds or items have no names, so that none can be compared."""
        if scores.seed is None or scores.item is None or not len(scores.seed):
            return None
        cells, cell = np.unique(_seeds_of_entrants(scores), return_inverse=True)
        order = np.argsort(cell.reshape(-1), kind="stable")
        starts = np.searchsorted(cell.reshape(-1)[order], np.arange(len(cells)))
        return cls(scores, place_hashes(replace(scores, seed=None)), hash_values(scores.values), order, starts)

    def alike(self, contents: Hashes) -> Iterator[tuple[str, dict[str, IntArray]]]:
        """Yield an entrant and the rows of each of its seeds that have the same `contents`, in any order.

        `contents` [n_rows] are hashes of what is compared.
        """
        by_content: dict[tuple[int, int, int], list[int]] = {}
        sums, sizes = np.add.reduceat(contents[self.order], self.starts), np.diff(self.starts, append=len(self.order))
        entrants = self.scores.entrant.codes[self.order[self.starts]]
        for at, key in enumerate(zip(entrants.tolist(), sums.tolist(), sizes.tolist(), strict=True)):
            by_content.setdefault(key, []).append(at)
        for (entrant, _, size), alike in by_content.items():
            if len(alike) > 1 and self.scores.seed is not None:
                rows = [self.order[self.starts[at] : self.starts[at] + size] for at in alike]
                yield self.scores.entrant.words[entrant], {str(self.scores.seed[each[0]]): each for each in rows}


def seed_twins(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have, under several seeds, equal results for the same items that chance cannot explain.

    A deterministic model looks the same; either way it is one run, and intervals that treat it as several are too
    narrow.
    """
    for name, seeds in of.alike(mix(of.places, of.results)):
        rows = list(seeds.values())
        if _is_no_chance(ln_arrangements(of.results[rows[0]]), len(rows)):
            yield Finding("same_seeds", name, f"{name}, all {len(rows[0]):,} rows of seeds {listed(list(seeds))}")


def _is_no_chance(ln_of_one: float, n_alike: int) -> bool:
    """Say whether chance cannot explain that so many seeds are alike: each beside the first has to hit by itself."""
    return ln_of_one >= log(LEAST_OF_A_SEED) and (n_alike - 1) * ln_of_one >= log(LEAST_ARRANGEMENTS)


def _seeds_of_entrants(scores: ScoreTable) -> Hashes:
    """Return a number for the entrant and seed of each row, [n_rows]."""
    return mix(scores.entrant.codes.astype(np.uint64), np.asarray(scores.seed).astype(np.uint64))


# Seeds whose results are the same numbers in every task and condition, on other items: one run, its rows moved. Two
# honest seeds are exchangeable: of the items on which only one of them has a certain result, each is as likely to
# have it, however easy or hard the item is. That both have it equally often is then a matter of tosses, and in every
# task and condition at once it soon cannot be chance.


def shuffled_seeds(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have the same numbers of each result under several seeds, which chance cannot explain.

    Seeds with other items are not compared, and items with equal results say nothing, so a model that draws nothing is
    not named here: it is one of `same_seeds`.
    """
    results, cells, places = of.results, _cells(of.scores), of.places
    for name, seeds in of.alike(mix(cells, results)):
        first, *others = (rows[np.argsort(places[rows], kind="stable")] for rows in seeds.values())
        same = [rows for rows in others if np.array_equal(places[rows], places[first])]
        ln_chance = sum(_ln_chance(cells[first], results[first], results[rows]) for rows in same)
        if len(same) == len(others) and ln_chance <= -log(LEAST_ARRANGEMENTS):
            n_cells = len(np.unique(cells[first]))
            where = f"as many of each in all {n_cells:,} tasks and conditions, on other items"
            yield Finding(
                "shuffled_seeds", name, f"{name}, {len(first):,} rows of seeds {listed(list(seeds))}: {where}"
            )


def _cells(scores: ScoreTable) -> Hashes:
    """Return a number for the task and condition of each row, [n_rows]."""
    condition = np.zeros(len(scores), np.int64) if scores.condition is None else scores.condition.codes
    return mix(scores.task.codes.astype(np.uint64), condition.astype(np.uint64))


def _ln_chance(cells: Hashes, first: Hashes, second: Hashes) -> float:
    """Return an upper bound of the logarithm of the chance that two seeds have equal numbers of each result everywhere.

    Cells, and the results of the two, are [n_items]. In each cell the result on which the two differ on most items is
    taken, d of them: half of d tosses are heads in d! / (d/2)!² / 2^d of all cases.
    """
    differ = first != second
    each = np.concatenate([mix(cells[differ], side[differ]) for side in (first, second)])
    _, at, counts = np.unique(each, return_index=True, return_counts=True)
    known, of = np.unique(np.tile(cells[differ], 2)[at], return_inverse=True)
    most = np.zeros(len(known), dtype=np.int64)
    np.maximum.at(most, of.reshape(-1), counts)
    return sum(map(_ln_half, most.tolist()))


def _ln_half(n: int) -> float:
    """Return the logarithm of the chance that half of `n` tosses, an even number, are heads."""
    return lgamma(n + 1) - 2 * lgamma(n / 2 + 1) - n * log(2)


# Seeds that are more alike than chance allows: a run whose rows were moved, with a few results turned over, or the
# likeliest of many. Of an item that r of K seeds solve, each seed is as likely as any other to be among the r: what the
# items differ in cannot make seeds alike, so the seeds' totals must vary as much as Cochran's Q says.

LEAST_STEADY = 1e-4
"""One honest entrant of ten thousand is flagged by chance. Twenty items of five seeds reach it in no single cell."""


def steady_seeds(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have seeds whose totals of 0/1 results vary less than chance allows, over all columns.

    Every task and condition adds its Q, for the items that all seeds have; the best column counts.
    Source: Cochran 1950, The comparison of percentages in matched samples, the lower tail; Sheppard's correction, since
    totals are whole numbers.
    """
    seeds, cells, codes = np.asarray(of.scores.seed), _cells(of.scores), of.scores.entrant.codes
    for at, column in enumerate(of.scores.columns):
        values = of.scores.values[:, at]
        told = np.flatnonzero((values == 0.0) | (values == 1.0))
        told = told[np.argsort(codes[told], kind="stable")]
        for own in np.split(told, np.flatnonzero(np.diff(codes[told])) + 1) if len(told) else ():
            entrant = of.scores.entrant.words[codes[own[0]]]
            names, seed = np.unique(seeds[own], return_inverse=True)
            _, item = np.unique(of.places[own], return_inverse=True)
            n_right, n_seeds = np.bincount(item, values[own]), np.bincount(item)
            is_whole = n_seeds[item] == len(names)
            if len(names) < MIN_REPEATED or not is_whole.any():
                continue
            rows, seed, item = own[is_whole], seed[is_whole], item[is_whole]
            chance = _ln_steady(cells[rows], seed, values[rows], n_right[item] / len(names))
            if chance < log(LEAST_STEADY):
                what = f"{entrant}, {column} of seeds {listed([str(name) for name in names.tolist()])}"
                yield Finding("steady_seeds", entrant, f"{what}: as alike by chance once in {np.exp(-chance):,.0f}")
                break


def _ln_steady(cells: Hashes, seed: IntArray, values: FloatArray, ease: FloatArray) -> float:
    """Return the logarithm of the chance that seeds' totals vary as little as they do; 0 where nothing can vary.

    Arrays are [n_rows]: cell, position of the seed, result, and the share of seeds with a 1 on the row's item.
    """
    _, cell = np.unique(cells, return_inverse=True)
    n_cells, n_seeds = int(cell.max()) + 1, int(seed.max()) + 1
    totals = np.bincount(cell * n_seeds + seed, values, n_cells * n_seeds).reshape(n_cells, n_seeds)
    # Each item is on a row of every seed. The spread of a total that is taken from a continuum is a twelfth more.
    of_items = np.bincount(cell, ease * (1.0 - ease), n_cells) / (n_seeds - 1)
    varies = of_items > 0.0
    squares = totals.var(axis=1, ddof=1)[varies] + 1.0 / 12.0
    freedom = int(varies.sum()) * (n_seeds - 1)
    if not freedom:
        return 0.0
    q = float(((n_seeds - 1) * squares / of_items[varies]).sum())
    # The chi-squared distribution with so many degrees of freedom.
    return log(max(float(gammainc(freedom / 2, q / 2)), LEAST))


# Seeds that are nearly another one: a run with a little noise, its rows moved or not. Values that are in order in each
# task and condition are compared, so that where a row stands does not matter.

NEAR_GAP = 0.1
"""Of a step between values in order, at most so much is near: of honest seeds a fifth of the rows are then."""


def near_seeds(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have a seed of which half of the rows are nearly another one's, in order of their values.

    A model that draws next to nothing looks the same; either way it is one run. Values that mostly repeat, such as 0/1,
    are not compared. A seed is compared with the first and with the one before it.
    """
    seeds, cells, codes = np.asarray(of.scores.seed), _cells(of.scores), of.scores.entrant.codes
    for at, column in enumerate(of.scores.columns):
        values = of.scores.values[:, at]
        known = np.flatnonzero(np.isfinite(values))
        order = known[np.lexsort((values[known], cells[known], seeds[known], codes[known]))]
        for own in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else ():
            each = np.split(own, np.flatnonzero(np.diff(seeds[own])) + 1)
            pairs = {(b - 1, b) for b in range(1, len(each))} | {(0, b) for b in range(1, len(each))}
            near = [pair for pair in sorted(pairs) if _are_near(cells, values, each[pair[0]], each[pair[1]])]
            if near:
                entrant = of.scores.entrant.words[codes[own[0]]]
                names = [str(seeds[each[a][0]]) for a in sorted({a for pair in near for a in pair})]
                what = f"{column} of seeds {listed(names)}: half of the rows or more to a thousandth"
                yield Finding(NEAR_SEEDS_FLAG, entrant, f"{entrant}, {what}, in the order of their values")


def _are_near(cells: Hashes, values: FloatArray, first: IntArray, second: IntArray) -> bool:
    """Say whether two seeds, rows in order of cell and value, agree on half of the rows within a small tolerance."""
    if len(first) < LEAST_ROWS or not np.array_equal(cells[first], cells[second]):
        return False
    own, other = values[first], values[second]
    # Whole numbers, such as ranks, may be the same ones in every order.
    if len(np.unique(own)) < LEAST_DISTINCT * len(own) or np.array_equal(own, np.round(own)):
        return False
    low, high = np.quantile(own, [0.25, 0.75])
    _, n_rows = np.unique(cells[first], return_counts=True)
    least = min(TOLERANCE, NEAR_GAP / int(n_rows.max())) * (high - low)
    return bool((np.abs(own - other) <= np.minimum(TOLERANCE * np.abs(own), least)).mean() >= LEAST_SHARE)


# Rows that are nearly another entrant's: copies with a little noise, or shifted a little as a whole. Each column of
# the sampled rows is compared as it is, shifted by the median difference, and scaled by the median ratio. Two honest
# entrants agree within a thousandth on a few rows; agreement on half of them means copied numbers. It is flagged and
# not refused: one model under two names looks the same.

TOLERANCE = 1e-3
"""The tolerance relative to a value, or to its column's interquartile range where that is smaller."""

LEAST_SHARE = 0.5
"""Of 52,000 pairs from MTEB, the closest honest ones agree on a third of eight tasks, copies and renamed ones on
0.96.
"""

LEAST_ROWS = 8

LEAST_DISTINCT = 0.5
"""A column with fewer distinct values, such as 0/1, agrees by chance."""

N_OF_MEDIAN = 31

FEW = 20
"""Up to this many entrants per submission all three comparisons are made; beyond, up to MOST, only the direct one."""

MOST = 2000

N_FIRST = 16
"""Rows checked first: two entrants that agree on half of all rows differ on all of these once in 65,000 times."""


@dataclass(frozen=True, repr=False)
class Other:
    """Another entrant's current evidence: its name, the submission, and the values of sampled rows."""

    entrant: str
    submission: int
    sampled: Sampled


def near_rows(
    prints: Sequence[Fingerprint], others: Iterable[Other], earlier: Sequence[Earlier] = ()
) -> Iterator[Finding]:
    """Yield which entrants of a submission have nearly another's rows, each once, with the nearest other.

    As `compare` does, it says nothing of who had them in `earlier` submissions before the other sent them, unless as
    a copy.
    """
    them, own = list(others), _of_same(earlier)
    by_place = _ByPlace([other.sampled for other in them])
    for mine in prints[:MOST] if them else ():
        shares = _nearest(mine.sampled, by_place, in_all_ways=len(prints) <= FEW)
        best = int(shares.argmax())
        while shares[best] >= LEAST_SHARE and _had_before(own.get(name_key(mine.entrant), ()), them[best]):
            shares[best] = 0.0
            best = int(shares.argmax())
        if shares[best] >= LEAST_SHARE:
            nearest = f"{them[best].entrant} to a thousandth in {shares[best]:.0%} of the compared rows"
            where = f"(submission {them[best].submission})"
            yield Finding(NEAR_ROWS_FLAG, mine.entrant, f"{mine.entrant} agrees with {nearest} {where}")


def _had_before(own: Sequence[Earlier], other: Other) -> bool:
    before = _by_right(own, other.submission, {*SAME, NEAR_ROWS_FLAG})
    return any(near_share(each.sampled, other.sampled) >= LEAST_SHARE for each in before)


def near_share(mine: Sampled, theirs: Sampled) -> float:
    """Return the share of sampled rows on which two nearly agree, in the column where it is largest.

    0.0 where no column is informative: fewer than eight rows in common, or few distinct values.

    >>> of = lambda values: Sampled(np.arange(8, dtype=np.uint32), ("error",), np.float32(values).reshape(-1, 1))
    >>> near_share(of([1.1, 2.3, 3.7, 4.2, 5.9, 6.1, 7.4, 8.8]), of([1.11, 2.31, 3.71, 4.21, 5.91, 6.11, 9, 9.1]))
    0.75
    """
    return float(_nearest(mine, _ByPlace([theirs]), in_all_ways=True)[0])


class _ByPlace:
    """The others' values by column and place: one look-up for all of them, not one for each."""

    def __init__(self, others: Sequence[Sampled]) -> None:
        self.n_others = len(others)
        self._others = others
        self._sorted: dict[str, tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.float32]]] = {}
        self._last: dict[str, tuple[bytes, NDArray[np.float32]]] = {}

    def at(self, column: str, places: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the values of a column at `places`, [n_places, n_others]; NaN where there is none."""
        key = places.tobytes()
        known = self._last.get(column)
        if known is None or known[0] != key:
            # The entrants of a submission usually have the same places.
            known = self._last[column] = key, self._gathered(column, places)
        return known[1]

    def _gathered(self, column: str, places: NDArray[np.uint32]) -> NDArray[np.float32]:
        if column not in self._sorted:
            self._sorted[column] = self._by_place(column)
        ordered, owners, values = self._sorted[column]
        gathered = np.full((len(places), self.n_others), np.nan, dtype=np.float32)
        starts, ends = (np.searchsorted(ordered, places, side).tolist() for side in ("left", "right"))
        for row, start, end in zip(gathered, starts, ends, strict=True):
            row[owners[start:end]] = values[start:end]
        return gathered

    def _by_place(self, column: str) -> tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.float32]]:
        having = [(at, one) for at, one in enumerate(self._others) if column in one.columns]
        places = np.concatenate([np.empty(0, np.uint32), *(one.places for _, one in having)])
        owners = np.repeat([at for at, _ in having], [len(one.places) for _, one in having]).astype(np.intp)
        columns = (one.values[:, one.columns.index(column)] for _, one in having)
        values = np.concatenate([np.empty(0, np.float32), *columns])
        order = np.argsort(places, kind="stable")
        return places[order], owners[order], values[order]


def _nearest(mine: Sampled, others: _ByPlace, *, in_all_ways: bool) -> FloatArray:
    """Return, for each other entrant, the share of agreeing rows in the column where it is largest, [n_others]."""
    shares = np.zeros(others.n_others)
    for at, name in enumerate(mine.columns):
        rows = _comparable_rows(mine.values[:, at])
        if not len(rows):
            continue
        first = mine.values[rows, at].astype(np.float64)
        allowed = _tolerance(first)
        theirs = others.at(name, mine.places)
        those = np.arange(others.n_others) if in_all_ways else _maybe_near(first, allowed, theirs, rows)
        values = theirs[np.ix_(rows, those)].T.astype(np.float64)
        shares[those] = np.maximum(shares[those], _shares(first, allowed, values, in_all_ways=in_all_ways))
    return shares


def _comparable_rows(values: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the rows to compare: one per distinct value, so that many zeros count once; empty if too few differ."""
    rows = np.sort(np.unique(values, return_index=True)[1])
    rows = rows[np.isfinite(values[rows])]
    enough = max(LEAST_ROWS, LEAST_DISTINCT * int(np.isfinite(values).sum()))
    return rows if len(rows) >= enough else rows[:0]


def _tolerance(first: FloatArray) -> FloatArray:
    low, high = np.quantile(first, [0.25, 0.75])
    allowed: FloatArray = TOLERANCE * np.minimum(abs(first), high - low)
    return allowed


def _maybe_near(
    first: FloatArray, allowed: FloatArray, theirs: NDArray[np.float32], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return which others agree on one of the first rows, or lack so many of them that nothing can be ruled out.

    Rows are in the order of hashes, so the first are a random sample.
    """
    others = theirs[rows[:N_FIRST]]
    is_near: BoolArray = abs(others - first[:N_FIRST, None]) <= allowed[:N_FIRST, None]
    lacks = np.isnan(others).sum(axis=0) > len(others) // 2
    return np.flatnonzero(is_near.any(axis=0) | lacks)


def _shares(first: FloatArray, allowed: FloatArray, others: FloatArray, *, in_all_ways: bool) -> FloatArray:
    """Return the share of rows on which one column [n_rows] agrees with each of the others [n_others, n_rows]."""
    with np.errstate(all="ignore"):
        ways = [others]
        if in_all_ways:
            ways += [others + _middle(first - others), others * _middle(first / others)]
        n_near = [(abs(first - way) <= allowed).sum(axis=1) for way in ways]
    n_both = np.isfinite(others).sum(axis=1)
    return np.where(n_both < LEAST_ROWS, 0.0, np.max(n_near, axis=0) / np.maximum(n_both, 1))


def _middle(values: FloatArray) -> FloatArray:
    """Return the median of the first non-NaN values of each row, [n_rows, 1].

    Rows are in the order of hashes, so the first are a random sample; they are enough where most are equal.
    """
    values = values[:, :N_OF_MEDIAN]
    ordered = np.sort(values, axis=1)
    n_known = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    both = [np.take_along_axis(ordered, at[:, None], axis=1) for at in ((n_known - 1) // 2, n_known // 2)]
    return (both[0] + both[1]) / 2


# When a run began: required if the manifest says so, and remembered if an earlier submission stated it. A run that
# states a beginning before its registration is not admitted. Submitted again without a time, or with a later one, it
# is admitted, but the time stated first is shown.

RULE = "started_at"

BEGAN_BEFORE_FLAG = "began_before"


@dataclass(frozen=True)
class Beginning:
    """When an earlier run began, as its submission stated, and whether it was not admitted for that reason."""

    started_at: datetime
    was_refused: bool


def check_started_at(case: Case) -> list[Check]:
    """Require that a run states when it began, if the benchmark requires it."""
    if case.manifest.admission.started_at == "optional":
        return []
    if case.started_at is None:
        reason = (
            "The benchmark asks when each run began, and this one does not say it: started_at in the metadata, such as "
            f'{{"started_at": "{case.received_at:%Y-%m-%dT%H:%M:%SZ}"}}.'
        )
        return [Check(RULE, "failed", reason)]
    began = in_utc(case.started_at)
    if is_after(case.started_at, case.received_at):
        return [Check(RULE, "failed", f"The run claims to have begun {began}, after the upload.")]
    return [Check(RULE, "passed", f"The run began {began}, as its submitter says.")]


def began_before(
    prints: Iterable[Fingerprint],
    earlier: Iterable[Earlier],
    beginnings: Mapping[int, Beginning],
    registered_at: datetime,
) -> Iterator[Finding]:
    """Yield entrants whose run began before the registration cited now, according to an earlier submission of it.

    `beginnings` are those stated by submissions, by their number. An earlier submission is taken to be of the same run
    if it has nearly the same rows, or was not admitted for its beginning; the newest such one of each entrant counts. A
    repeated run may innocently meet the second condition, so the sentence says which applies.
    """
    earlier = [one for one in earlier if one.is_same and one.submission in beginnings]
    too_early = [one for one in earlier if is_after(registered_at, beginnings[one.submission].started_at)]
    for mine in prints:
        own = [(_is_the_same(mine, one), one.submission) for one in too_early if _is_of(one, mine)]
        if relevant := [(is_same, number) for is_same, number in own if is_same or beginnings[number].was_refused]:
            is_same, number = max(relevant)
            rows = "the same rows" if is_same else "other rows"
            began = in_utc(beginnings[number].started_at)
            yield Finding(
                BEGAN_BEFORE_FLAG, mine.entrant, f"{mine.entrant} with {rows} in submission {number}, begun {began}"
            )


def _is_of(one: Earlier, mine: Fingerprint) -> bool:
    return name_key(one.fingerprint.entrant) == name_key(mine.entrant)


def _is_the_same(mine: Fingerprint, one: Earlier) -> bool:
    is_equal = mine.results == one.fingerprint.results
    return is_equal or near_share(mine.sampled, one.fingerprint.sampled) >= LEAST_SHARE


# Names that look like another entrant's because of other letters or marks.
#
# `GPT-4` with one Cyrillic letter is a different name that looks the same. Unicode's table of confusables
# (https://www.unicode.org/reports/tr39/#Confusable_Detection), from the library confusable-homoglyphs, decides what
# looks alike. It is made for identifiers and keeps apart what a reader of a list takes for the same: the dashes,
# points in the middle of a line, small capitals, letters with a stroke or an accent. Of those Unicode's own names and
# categories say which plain character they are a form of. ASCII letters look only like themselves: `model-l` and
# `model-1` count as different. Small marks at the ends of a name, such as a full stop, are overlooked.

LOOKALIKES_FLAG = "lookalikes"

# Small capitals, letters with a stroke or a hook, letters on a square.
_LATIN = re.compile(r"LATIN (?:CAPITAL |SMALL )?LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH [\w -]+)?$")

_POINT = re.compile(r"\b(?:FULL STOP|MIDDLE DOT)$")

# Accents and other marks upon, below or through a plain letter; of other alphabets they may be vowels.
_MARKED = re.compile("([0-9A-Za-z])[\u0300-\u036f]+")

_SMALL_MARKS = "`'\".,:;_-"


def lookalike_findings(names: Iterable[str], others: Sequence[str]) -> Iterator[Finding]:
    """Yield each name that looks like another one of `others`, or of the submission itself.

    A plain name, in ASCII, looks like itself: it is the other, in letters from elsewhere, that looks like it, whoever
    came first.
    """
    named = list(names)
    known: dict[str, str] = {}
    for name in sorted((*others, *named), key=lambda each: not each.isascii()):
        known.setdefault(skeleton(name), name)
    for name in named:
        other = known[skeleton(name)]
        if name_key(name) != name_key(other):
            yield Finding(LOOKALIKES_FLAG, name, _sentence(name, other))


@lru_cache(maxsize=100_000)
def skeleton(name: str) -> str:
    """Return what a name looks like: names with one skeleton are indistinguishable by eye, or nearly so.

    >>> skeleton("GP\N{CYRILLIC CAPITAL LETTER TE}-4") == skeleton("gpt-4")
    True
    >>> skeleton("GPT\N{EM DASH}4\N{MIDDLE DOT}1.") == skeleton("GPT-4.1")
    True
    """
    looks = name if name.isascii() else "".join(map(_lookalike, unicodedata.normalize("NFKD", name)))
    key = name_key(_MARKED.sub(r"\1", looks))
    return key.strip(_SMALL_MARKS) or key


@lru_cache(maxsize=10_000)
def _lookalike(character: str) -> str:
    """Return the ASCII text that a character looks like, or else one of those that look like it, always the same."""
    if character.isascii():
        return character
    alike = _alike(character)
    every = {character, *alike, *(text for each in alike for text in _alike(each))}
    known = [text for text in alike if text.isascii()] or list(filter(None, map(_plain, every)))
    return min(known or every)


def _alike(text: str) -> list[str]:
    return [str(each["c"]) for each in confusables_data.get(text, ())]


def _plain(text: str) -> str:
    """Return the ASCII character that a character is a form of, by what Unicode says of it; "" for any other."""
    if len(text) > 1:
        return ""
    if letter := _LATIN.search(unicodedata.name(text, "")):
        return letter.group(1)
    if unicodedata.category(text) == "Pd":
        return "-"
    if _POINT.search(unicodedata.name(text, "")):
        return "."
    return str(unicodedata.digit(text, "")) if unicodedata.category(text) == "No" else ""


def _sentence(name: str, other: str) -> str:
    odd = [c for c in f"{name}{other}" if not c.isascii() and skeleton(c) != name_key(c)]
    shown = ", ".join(f"{c} is U+{ord(c):04X} {unicodedata.name(c, '')}" for c in list(dict.fromkeys(odd))[:5])
    why = shown or "they differ by a small mark at an end"
    return f"{name} looks like {other}, another entrant of this benchmark ({why})"


# Values that are exactly the best possible, and single ones that dominate an average: flagged, never refused. A
# forecast that hits every value, or labels that were copied, look like the first, and so does an item that is too
# easy; a slip of a decimal point looks like the second.

MIN_ALL = 8
"""Fewer successes in a row are plausible by chance."""

LEAST, AS_GOOD_AS = 1e-100, 1e-12
"""Distances from the best end that count as zero: absolute, and relative to the entrant's median absolute value."""

MIN_ROWS, NEARLY_ALL = 5, 0.9
"""Of five exponential values one is nine tenths of the sum in 5 of 10,000 cases; with fewer it is common."""


def exactly_best(manifest: Manifest, scores: ScoreTable) -> Iterator[Finding]:
    """Yield entrants with values of a ranking metric that equal the best end of its declared range.

    Where a board compares ratios, zero is the best end of errors whose range begins nowhere.

    An error (smaller is better) that alone ranks a board is flagged from a single value on, since a measured error of
    zero hardly occurs; if other metrics rank with it, from half of the values on, since a drift under noise that an
    estimator ignores is zero. Discrete scores, such as 0/1, and metrics where larger is better are flagged only if all
    values are the best possible and the metric alone ranks a board: that every run was valid is not suspicious.
    """
    needed = [board.required_metrics() for board in manifest.leaderboards]
    of_ratios = {
        name for board in manifest.leaderboards if board.compares_ratios() for name in board.required_metrics()
    }
    for metric, declared in _ranking_metrics(manifest, scores):
        best = 0.0 if declared.best is None and metric in of_ratios else declared.best
        if best is None:
            continue
        values = scores.value(metric)
        at_best = abs(values - best) <= _nothing(scores.entrant, values)
        # An error below zero is clipped as zero is.
        at_best |= (values < best) & (metric in of_ratios)
        at_worst = values == declared.worst
        counts = [_counted(scores.entrant, rows) for rows in (~np.isnan(values), at_best, at_best | at_worst)]
        for entrant, n_rows, n_exact, n_ends in zip(scores.entrant.words, *counts, strict=True):
            in_steps = declared.worst is not None and n_ends == n_rows
            is_error = declared.direction == "minimize" and not in_steps
            share = _least_share(is_alone=(metric,) in needed, is_error=is_error)
            if n_exact and n_exact >= share * n_rows and (is_error or n_rows >= MIN_ALL):
                at_least = " or less" if declared.best is None else ""
                what = f"{declared.title or metric} of {entrant} is {best:g}{at_least}"
                yield Finding(EXACT_BEST, entrant, f"{what} in {n_exact:,} of {n_rows:,} rows")


def decided_by_one(manifest: Manifest, scores: ScoreTable) -> Iterator[Finding]:
    """Yield entrants whose mean of a ranking metric without a best end is dominated by one value in their favour.

    No range rules out such a value, and the average is then whatever the owner wrote into one cell. Tasks of which one
    has scores in a far larger unit look the same: then that task alone ranks the board.
    """
    for metric, declared in _ranking_metrics(manifest, scores):
        if declared.best is not None:
            continue
        values = scores.value(metric)
        sign = 1.0 if declared.direction == "maximize" else -1.0
        good = np.nan_to_num(sign * values)
        largest, total = (np.zeros(len(scores.entrant.words)) for _ in range(2))
        np.maximum.at(largest, scores.entrant.codes, good)
        np.add.at(total, scores.entrant.codes, np.abs(good))
        n_rows = _counted(scores.entrant, ~np.isnan(values))
        for entrant, most, sum_, n in zip(scores.entrant.words, largest.tolist(), total.tolist(), n_rows, strict=True):
            if n >= MIN_ROWS and most > NEARLY_ALL * sum_:
                what = f"one {declared.title or metric} of {entrant}, {sign * most:.6g}"
                yield Finding(ONE_VALUE, entrant, f"{what}, is more than nine tenths of the sum of its {n:,} in size")


def _ranking_metrics(manifest: Manifest, scores: ScoreTable) -> Iterator[tuple[str, Metric]]:
    """Yield each metric that ranks a board and that the rows have, with its declaration."""
    for name in dict.fromkeys(name for board in manifest.leaderboards for name in board.required_metrics()):
        if name in manifest.metrics and name in scores.columns:
            yield name, manifest.metrics[name]


def _nothing(entrant: Coded, values: FloatArray) -> FloatArray:
    """Return the distance from the best end within which a value counts as equal to it, [n_rows].

    An error of 1e-300 beside others of about 1 is effectively zero.
    """
    known = np.flatnonzero(np.isfinite(values))
    sizes, codes = abs(values[known]), entrant.codes[known]
    order = np.lexsort((sizes, codes))
    n_each = np.bincount(codes, minlength=len(entrant.words))
    middle = np.cumsum(n_each) - n_each + n_each // 2
    medians = np.where(n_each > 0, np.append(sizes[order], 0.0)[np.minimum(middle, len(known))], 0.0)
    return np.maximum(LEAST, AS_GOOD_AS * medians)[entrant.codes]


def _counted(entrant: Coded, rows: BoolArray) -> list[int]:
    """Return how many of the marked rows each entrant has."""
    counts: list[int] = np.bincount(entrant.codes[rows], minlength=len(entrant.words)).tolist()
    return counts


def _least_share(*, is_alone: bool, is_error: bool) -> float:
    """Return the share of an entrant's values from which it is flagged; above 1 means never."""
    if is_alone:
        return 0.0 if is_error else 1.0
    return 0.5 if is_error else 2.0
