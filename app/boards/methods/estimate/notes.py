"""The notes below a board of method `estimate`: failures, labels, what has no interval. Called by its `board`."""

from collections import Counter
from collections.abc import Iterator

from app.boards.calibrated import few_units_note
from app.boards.measured import HELD_BACK, NO_WORST_VALUE, EvidenceWords, Measurement
from app.boards.methods.estimate.ranked import NOTHING, Ranked
from app.boards.methods.estimate.spec import EstimateBoard
from app.boards.wording import names_in_words, sentences
from app.names import in_words
from app.stats.calibrated import ALL_EQUAL


def _reason(measurement: Measurement, metric: str) -> str | None:
    return measurement.estimates.get(metric, NOTHING).reason


def notes_of(spec: EstimateBoard, words: EvidenceWords, ranked: Ranked) -> tuple[str, ...]:
    """Return the notes of a board, as sentences.

    >>> from app.boards.methods.estimate.ranked import rank
    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"], labels={"B": "Random"})
    >>> words = EvidenceWords(resampled="seeds", too_few="seeds", failed="Failed episodes")
    >>> notes_of(board, words, rank(benchmark(board), board, [measured("A", 0.5), measured("B", 0.1)]))[0]
    'Shown without a rank, for comparison: B.'
    """
    notes = [*words.notes]
    failed = [f"{in_words(m.entrant)} ({m.coverage.n_failed})" for m in ranked.contenders if m.coverage.n_failed]
    if failed:
        notes.append(f"{words.failed}, each counted as the worst there is: {sentences(failed)}.")
    if labelled := [m.entrant for m in ranked.others if m.entrant in spec.labels]:
        notes.append(f"Shown without a rank, for comparison: {names_in_words(labelled)}.")
    notes += ranked.roster.notes(words.cells)
    if holding := [m.entrant for m in ranked.contenders if m.entrant in ranked.label_holders]:
        notes.append(
            "Ranked although who sent them can read the private labels, because the manifest says so "
            f"(label_holders: ranked): {names_in_words(holding)}."
        )
    if silent := [m.entrant for m in ranked.others if _reason(m, spec.ranked) == HELD_BACK]:
        notes.append(
            "Held back until the benchmark closes, not being better than the best of their owner by more than a "
            f"standard error: {names_in_words(silent)}."
        )
    unplaced = [m.entrant for m in ranked.others if m.entrant not in {*ranked.roster.coverages, *silent}]
    if empty := [name for name in unplaced if name not in spec.labels]:
        notes.append(f"No value of {spec.ranked}, so no rank: {names_in_words(empty)}.")
    notes += _of_other_items(ranked)
    notes += _without_spread(spec, ranked, words.too_few)
    notes += few_units_note(list(_units(spec, ranked)), words.units, spec.uncertainty.level)
    if flat := list(_without_width(spec, ranked)):
        notes.append(
            f"Compatible intervals without width, because every resample gives the same: {'; '.join(flat)}. Those that "
            "are drawn are the calibrated ones."
        )
    if lacking := list(_lacking(spec, ranked, is_withheld=False)):
        notes.append(f"Left out of an average, for want of a value: {'; '.join(lacking)}.")
    if withheld := list(_lacking(spec, ranked, is_withheld=True)):
        notes.append(f"No average, because what is absent has no worst value: {'; '.join(withheld)}.")
    return tuple(notes)


def _of_other_items(ranked: Ranked) -> Iterator[str]:
    """Yield who has other items than most entrants, where the grid does not name the items."""
    if ranked.roster.is_provisional:
        if len({m.items for m in ranked.contenders if m.items}) > 1:
            yield (
                "These scores are not all about the same: entrants have other items, or other labels or weights for "
                "them, and no half of the submitters has the same ones. Whose are the benchmark's, nobody has declared."
            )
        return
    named = Counter(m.items for m in ranked.contenders if m.items)
    most, n_most = named.most_common(1)[0] if named else ("", 0)
    others = [m.entrant for m in ranked.contenders if m.items and m.items != most]
    if n_most > 1 and others:
        yield (
            f"Of other items than most have: {names_in_words(others)}. The benchmark says how many items there are and "
            "not which, so these scores may be about easier ones."
        )
    elif others:
        yield "The benchmark says how many items there are and not which: no two entrants have the same ones."


def _units(spec: EstimateBoard, ranked: Ranked) -> Iterator[tuple[str, float]]:
    """Yield the shown entrants, each with the number of units behind its score."""
    for measurement in (*ranked.contenders, *ranked.others):
        interval = measurement.estimates.get(spec.ranked, NOTHING).calibrated
        if interval is not None:
            yield measurement.entrant, interval.n_units


def _without_spread(spec: EstimateBoard, ranked: Ranked, units: str) -> Iterator[str]:
    """Yield who has no rank interval, by reason, and what that means for the others' intervals."""
    names: dict[str, list[str]] = {}
    for measurement in ranked.contenders:
        if spec.ranked not in measurement.replicates:
            reason = measurement.estimates[spec.ranked].reason or "too_few_clusters"
            names.setdefault(_reason_in_words(reason, units), []).append(measurement.entrant)
    for words, entrants in names.items():
        yield f"No rank interval, {words}: {names_in_words(entrants)}."
    if names and ranked.standing is not None and ranked.standing.has_spread.any():
        yield "How sure these scores are is not known: nobody is said to be below them, others may be above them."


def _reason_in_words(reason: str, units: str) -> str:
    is_undefined = reason == "undefined_in_resamples"
    return "undefined in many resamples" if is_undefined else f"fewer than two {units} to resample"


def _without_width(spec: EstimateBoard, ranked: Ranked) -> Iterator[str]:
    for metric in spec.metrics:
        equal = [m.entrant for m in (*ranked.contenders, *ranked.others) if _reason(m, metric) == ALL_EQUAL]
        if equal:
            yield f"{metric} of {names_in_words(equal)}"


def _lacking(spec: EstimateBoard, ranked: Ranked, *, is_withheld: bool) -> Iterator[str]:
    """Yield who lacks values of a metric in some rows; the ranking metric's gaps are already in the coverage.

    `is_withheld` selects those whose average is withheld for that reason, or else those that have one.
    """
    shown = (*ranked.contenders, *ranked.others)
    for metric in (name for name in spec.metrics if name != spec.ranked):
        of_metric = [(m.entrant, m.estimates.get(metric, NOTHING)) for m in shown]
        if named := [f"{in_words(entrant)} ({each.n_lacking:,})" for entrant, each in of_metric
                    if each.n_lacking and (each.reason == NO_WORST_VALUE) == is_withheld]:  # fmt: skip
            yield f"{metric} of {sentences(named)}"
