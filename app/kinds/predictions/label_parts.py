"""The public and the private part of labels that are a secret: which items are which, and evidence of one part alone.

Called by `app.store.labels`, which keeps what was chosen, and by `app.kinds.predictions.disclosed`; pure. Which part
an item is in follows from its name and a secret key, never from its position, so that whoever orders the file, or
knows the order, knows nothing of the parts.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from app.boards.measured import EntrantEvidence
from app.kinds.predictions.declared import Predictions
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.predictions import Labels, PredictionBlock

KEY_BYTES = 32
N_STRATA = 10
"""Strata of equal size into which values are divided; each is represented in both parts."""
FEWEST = 10
"""A part with fewer units is imprecise, and a single label matters too much in it."""


def choose_public(labels: Labels, part: Predictions, key: bytes, share: float) -> BoolArray:
    """Return which items of a task are public, [n_items]: a share of each stratum, chosen by a keyed hash of its name.

    Strata are classes, or tenths of the values; the groups of a ranking are whole in a part, named by their first item.
    A stratum of several units is in both parts; one of a single unit is where its hash says. All are public where the
    share is 1.
    """
    if share >= 1.0:
        return np.ones(len(labels), dtype=np.bool_)
    names, unit_of = _units(labels, part)
    places = np.array([_place(key, labels.task, name) for name in names])
    strata = _strata(labels, part, places)
    public = np.zeros(len(names), dtype=np.bool_)
    for stratum in np.unique(strata).tolist():
        members = np.flatnonzero(strata == stratum)
        ordered = members[np.argsort(places[members], kind="stable")]
        public[ordered[: _n_public(places[members], share)]] = True
    return public[unit_of]


def _n_public(places: FloatArray, share: float) -> int:
    if len(places) == 1:
        return int(places[0] < share)
    return int(np.clip(round(share * len(places)), 1, len(places) - 1))


def _place(key: bytes, task: str, name: str) -> float:
    """Return where a name falls between 0 and 1: uniform to whoever lacks the key."""
    message = json.dumps([task, name], ensure_ascii=False).encode()
    return int.from_bytes(blake2b(message, key=key, digest_size=8).digest()) / 2.0**64


def _units(labels: Labels, part: Predictions) -> tuple[list[str], IntArray]:
    """Return the names of what is kept together, and of each item the number of its unit."""
    if part.kind != "ranking" or labels.group is None:
        return list(labels.items), np.arange(len(labels))
    _, unit_of = np.unique(labels.group, return_inverse=True)
    names = [min(items) for items in items_by_group(labels).values()]
    return names, np.asarray(unit_of, dtype=np.int64)


def items_by_group(labels: Labels) -> Mapping[int, list[str]]:
    """Return the items of each group, by the group's number."""
    by_group: dict[int, list[str]] = {}
    numbers = np.zeros(len(labels), dtype=np.int64) if labels.group is None else labels.group
    for number, item in sorted(zip(numbers.tolist(), labels.items, strict=True)):
        by_group.setdefault(number, []).append(item)
    return by_group


def _strata(labels: Labels, part: Predictions, places: FloatArray) -> IntArray:
    if part.kind == "classification":
        return labels.label.astype(np.int64)
    if part.kind == "ranking":
        return np.zeros(len(places), dtype=np.int64)
    # Ties between equal values are broken by their hash, never by their position.
    rank = np.empty(len(labels), dtype=np.int64)
    rank[np.lexsort((places, labels.label))] = np.arange(len(labels))
    return rank * N_STRATA // len(labels)


def warn_of_parts(labels: Labels, part: Predictions) -> Iterator[str]:
    """Yield warnings for the steward about what is undefined on the parts of a task."""
    if labels.public is None or labels.public.all():
        return
    for name, chosen_items in (("public", labels.public), ("private", ~labels.public)):
        chosen = take_labels(labels, chosen_items)
        n_units = len(chosen) if chosen.group is None else len(np.unique(chosen.group))
        if n_units < FEWEST:
            yield f"the {name} part of task {labels.task} has only {n_units} {part.units}"
        absent = sorted(set(np.unique(labels.label).tolist()) - set(np.unique(chosen.label).tolist()))
        if part.classes is not None and absent:
            yield f"the {name} part of task {labels.task} lacks {len(absent)} of the classes, each of a single item"


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
