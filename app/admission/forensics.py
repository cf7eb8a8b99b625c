"""Forensics of rows: patterns that honest runs hardly ever show, within one submission and against earlier ones.

`look_within` is called by `app.kinds.reader` in the process that reads, the rest by `app.admission.rules` and
`app.receiving.receive`. Pure and vectorised: it costs a few sorts of the rows. Nothing here refuses a run, because each
finding may have an innocent reason (a partner that does nothing, a model under two names); it is shown beside the
result.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.admission.check import Check, listed, some
from app.admission.earlier_submissions import Earlier
from app.admission.shuffled_seeds import shuffled_seeds
from app.admission.twins import SeedRows, seed_twins, twin_of, twins_within
from app.stats.arrays import BoolArray, IntArray
from app.values.fingerprints import (
    Fingerprint,
    Hashes,
    content_hashes,
    fingerprints_of,
    many_digits,
    mix,
    n_other_results,
    shared_contents,
)
from app.values.forensics import FLAGS, Finding, Forensics
from app.values.predictions import PredictionBlock
from app.values.scores import ScoreTable

MIN_REPEATED = 3
REPEATED_SHARE = 0.5
"""A flag needs half of the rows of a seed, a condition or an entrant to occur elsewhere."""
ALIKE_SHARE = 0.3
"""Shared contents as a share of the union: the value for two equal-sized entrants that share half of their rows."""
MIN_CONTENTS = 5
MIN_RUN = 8
DISTINCT_SHARE = 0.5
"""A run of equal numbers is remarkable only where the other numbers mostly differ."""


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
    findings += [twin for twin in twins_within(fingerprints) if twin.entrant not in copied]
    return Forensics(fingerprints, tuple(findings))


def compare(new: Sequence[Fingerprint], earlier: Sequence[Earlier]) -> Iterator[Finding]:
    """Yield findings against earlier submissions: changed results of the same entrant, or another entrant's rows.

    Entrants are looked up instead of compared pairwise: a submission may have as many entrants as rows.
    """
    same: dict[str, list[Earlier]] = {}
    for one in earlier:
        if one.is_same:
            same.setdefault(one.fingerprint.entrant.lower(), []).append(one)
    others = _Others([one for one in earlier if not one.is_same])
    for mine in new:
        for one in same.get(mine.entrant.lower(), ()):
            yield from _other_results(mine, one)
        for one in others.alike(mine):
            yield from _another_s_rows(mine, one)


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
    enough = min(len(mine.contents), len(old.contents)) >= MIN_CONTENTS
    share = shared_contents(mine.contents, old.contents) if enough else 0.0
    if share < ALIKE_SHARE:
        yield from twin_of(mine, old, f"submission {one.submission}")
    else:
        what = f"{mine.entrant} has about {share:.0%} of its rows in common with {old.entrant}"
        yield Finding("same_rows", mine.entrant, f"{what} (submission {one.submission})")


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
