"""Scores outside of a range that a new version of a manifest declares: it is refused while they are on the boards.

Called by `app.store.benchmarks`. Uploads are held to the range when they are read, so a range that is narrowed later
would leave older scores beyond what anybody can still reach, and their entrants first for good.
"""

from collections.abc import Iterator

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Entry, Submission
from app.errors import Conflict
from app.kinds.known import kind_of
from app.manifest.manifest import Manifest
from app.manifest.metric import Metric
from app.names import first_few, in_words
from app.store.rows import read_scores
from app.values.scores import ScoreTable

SHOWN = 5
AT_ONCE = 100
"""Entrants whose rows are in memory at a time."""


def refuse_outside_range(session: Session, benchmark_id: int, before: Manifest, after: Manifest) -> None:
    """Raise Conflict where evidence that counts, or soon will, has scores outside of a range that is narrowed."""
    narrowed = [name for name, metric in after.metrics.items() if name in before.metrics
                and _is_narrower(metric, before.metrics[name])]  # fmt: skip
    if not narrowed or kind_of(after).rows.form == "packed":
        return
    query = select(Entry.submission_id, Entry.entrant_id).join(Submission, Submission.id == Entry.submission_id)
    counting = (Submission.benchmark_id == benchmark_id) & Entry.state.in_(("pending", "current"))
    pairs = [(number, entrant) for number, entrant in session.execute(query.where(counting).order_by(Entry.entrant_id))]
    outside = [
        line
        for start in range(0, len(pairs), AT_ONCE)
        for scores in [read_scores(session, pairs[start : start + AT_ONCE], narrowed)]
        for name in narrowed
        for line in _outside(scores, name, after.metrics[name])
    ]
    if outside:
        raise Conflict(
            "Scores on the boards are outside of the range that this version declares: "
            f"{first_few(outside, SHOWN, between='; ')}. Withdraw their submissions, or give the metric another name."
        )


def _is_narrower(now: Metric, before: Metric) -> bool:
    """Say whether a range excludes what another one held, of a metric that is read in the same way."""
    if not now.is_read_like(before) or now.above is not None:
        return False
    (least, most), (least_before, most_before) = _ends(now), _ends(before)
    return bool(least > least_before or most < most_before)


def _ends(metric: Metric) -> tuple[float, float]:
    return -np.inf if metric.min is None else metric.min, np.inf if metric.max is None else metric.max


def _outside(scores: ScoreTable, name: str, metric: Metric) -> Iterator[str]:
    """Yield each entrant with a score outside, with its score that is."""
    values, (least, most) = scores.value(name), _ends(metric)
    is_outside = (values < least) | (values > most)
    entrants, first = np.unique(scores.entrant.codes[is_outside], return_index=True)
    for code, value in zip(entrants.tolist(), values[is_outside][first].tolist(), strict=True):
        yield f"{in_words(scores.entrant.words[code])} has a {name} of {value:g}"
