"""Labels that a benchmark's steward uploads once: what a kind says of them, parts, commitment and the ladder."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.measured import EntrantEvidence, Estimate, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.errors import Problem
from app.files.uploads import Limits, SentFile
from app.manifest.model import Manifest, Scoring
from app.stats.arrays import BoolArray
from app.values.scores import Labels, PredictionBlock

KEY_BYTES = 32

ROUGH = 2
"""Significant digits of differences and chances, and of effective numbers."""


@dataclass(frozen=True)
class LabelReading:
    """The labels of every task, and what the steward should know."""

    labels: tuple[Labels, ...]
    sha256: str
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True)
class KindLabels:
    """What a kind says of the labels of its benchmarks; one of them may have none, or no private ones."""

    takes: Callable[[Manifest], bool]
    """Whether the labels are the benchmark's own."""
    scoring: Callable[[Manifest], Scoring | None]
    """The rules of disclosure of private labels; None where they are no secret."""
    ranks_holders: Callable[[Manifest], bool]
    """Whether entrants of those who can read private labels are ranked."""
    read: Callable[[Manifest, Sequence[SentFile], Limits], LabelReading]
    """Reads what a steward uploads; a function of a module, because the reader process loads it by its name."""
    digest: Callable[[Manifest, Sequence[Labels]], str]
    """The SHA-256 of labels, whatever their order."""
    choose_public: Callable[[Manifest, Labels, bytes, float], BoolArray]
    """Which items of a task are public, [n_items], by a secret key: a share of them."""
    warn_of_parts: Callable[[Manifest, Labels], Iterator[str]]
    """What is undefined on the parts of a task."""
    n_classes: Callable[[Manifest], int | None]
    """How many classes a label is one of; None where labels are numbers."""
    shown_score: Callable[[Manifest, EstimateBoard, Measurement], "ShownScore | None"]
    """The score of a measurement by the metric that ranks, as it is shown; None where it is undefined."""


# The public and the private part of labels that are a secret: evidence of one part alone.


def take_labels(labels: Labels, chosen: BoolArray) -> Labels:
    """Return the labels of some items, which are then no longer divided."""
    return Labels(
        task=labels.task,
        items=tuple(item for item, is_chosen in zip(labels.items, chosen.tolist(), strict=True) if is_chosen)
        if labels.items
        else (),
        label=labels.label[chosen],
        weight=None if labels.weight is None else labels.weight[chosen],
        group=None if labels.group is None else labels.group[chosen],
        row=None if labels.row is None else labels.row[chosen],
    )


def narrow(evidence: EntrantEvidence, *, public: bool) -> EntrantEvidence:
    """Return the predictions and labels of one part; a task that is not divided is whole in both."""
    kept = {task: _mask(labels, public=public) for task, labels in evidence.labels.items()}
    return replace(
        evidence,
        predictions=[_take_block(block, kept.get(block.task)) for block in evidence.predictions],
        labels={task: take_labels(labels, kept[task]) for task, labels in evidence.labels.items()},
    )


def _mask(labels: Labels, *, public: bool) -> BoolArray:
    if labels.public is None or labels.public.all():
        return np.ones(len(labels), dtype=np.bool_)
    return labels.public if public else ~labels.public


def _take_block(block: PredictionBlock, chosen: BoolArray | None) -> PredictionBlock:
    return block if chosen is None else replace(block, values=block.values[chosen])


# The commitment of a steward to private labels, based on a digest that does not depend on their order. The commitment
# is published when the labels are uploaded. The salt keeps it from revealing them; at the close salt and digest are
# published, so that anybody can recompute the commitment and, with the labels, the digest.

FORM = "plumbline-labels-v1"


@dataclass(frozen=True, repr=False)
class Opening:
    """The opening of a commitment: a random salt, the share that is public, and the digest of the labels."""

    salt: bytes
    public_share: float
    labels_sha256: str

    def text(self) -> str:
        """Return the bytes whose SHA-256 is the commitment, as text."""
        share = repr(float(self.public_share))
        lines = (FORM, f"salt {self.salt.hex()}", f"public_share {share}", f"labels {self.labels_sha256}")
        return "".join(f"{line}\n" for line in lines)

    def commitment(self) -> str:
        """Return the SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def parts_key(labels_sha256: str) -> bytes:
    """Return the key that decides which items are public: as secret as the labels, and not chosen by the steward.

    A random key could be redrawn until the parts suit the steward.
    """
    return hashlib.blake2b(labels_sha256.encode(), person=b"plumbline parts", digest_size=KEY_BYTES).digest()


# The Ladder: a new score is shown only where it is better than its owner's best by more than its standard error.
# Otherwise nothing new is published. The best is that of all of an owner's entrants, because an owner who could
# rename an entrant would have a ladder for each name. Source: Blum & Hardt 2015, The Ladder: a reliable leaderboard
# for machine learning competitions; here the step is the larger standard error of the two scores, whichever its owner
# made small.


@dataclass(frozen=True)
class ShownScore:
    """A score as it is shown, larger being better, and its standard error; infinite where it is not known."""

    score: float
    error: float


ShownScores = Mapping[str, ShownScore]
"""What an entrant scores, by board."""


def is_better(new: ShownScore, best: ShownScore | None) -> bool:
    """Say whether a score may be shown beside the best that was shown.

    >>> best = ShownScore(0.82, 0.01)
    >>> is_better(ShownScore(0.84, 0.02), best), is_better(ShownScore(0.86, 0.02), replace(best, error=0.03))
    (False, True)
    """
    return best is None or new.score - best.score > max(new.error, best.error) * (1.0 + 1e-9)


def improves(new: ShownScores, best: ShownScores) -> bool:
    """Say whether an answer is shown: its first, or one that is better on any board."""
    return not best or any(is_better(each, best.get(board)) for board, each in new.items())


def higher(best: ShownScores, shown: ShownScores) -> ShownScores:
    """Return the best of an owner once more has been shown, board by board."""
    return {
        board: max((scores[board] for scores in (best, shown) if board in scores), key=lambda each: each.score)
        for board in {*best, *shown}
    }


def numbers_in(measurement: Measurement) -> int:
    """Return how many numbers of a measurement are published, on boards and in reports."""
    ends = [(e.point, e.low, e.high, *_calibrated(e)) for e in measurement.estimates.values()]
    cells = [cell for rows in measurement.rows.values() for row in rows for cell in row]
    shown = [*(number for each in ends for number in each), *cells]
    return sum(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in shown)


def _calibrated(estimate: Estimate) -> tuple[float | None, ...]:
    ours = estimate.calibrated
    return () if ours is None else (ours.low, ours.high, ours.n_units)
