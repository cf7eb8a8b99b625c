"""What a run says of itself that is not what the benchmark says: its suite, its seed, its estimators' estimands.

Called by `app.kinds.series.read`. None of it refuses a run; the submitter gets warnings.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.discrimination import CLASS_ESTIMAND, CLASS_METRICS, CLASS_SCORE
from app.errors import Problem
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.names import slug_of
from app.manifest.manifest import Manifest, part_of
from app.names import clip_for_message, first_few
from app.values.scores import ScoreTable

SHOWN = 10


def about_run(manifest: Manifest, stated: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Yield where a run's own manifest is of another suite, or draws from another seed."""
    name = stated.get("name")
    if isinstance(name, str) and slug_of(name) not in (manifest.slug, slug_of(manifest.title)):
        message = f"the run is of another suite than {manifest.title}; its records must still be the benchmark's"
        yield Problem(message, file, column="name", value=clip_for_message(name))
    drawn = part_of(manifest, SeriesPart).uncertainty
    seed = _seed(stated)
    if drawn is not None and drawn.stream == "lrdbench" and seed is not None and seed != drawn.rng_seed:
        message = f"the run draws its intervals from another seed than the benchmark's {drawn.rng_seed}; they differ"
        yield Problem(message, file, column="seeds.global_seed", value=str(seed))


def _seed(stated: Mapping[str, Any]) -> int | None:
    parts = [stated.get(part) for part in ("uncertainty", "seeds")]
    seeds = [part.get(key) for part, key in zip(parts, ("seed", "global_seed"), strict=True) if isinstance(part, dict)]
    return next((seed for seed in seeds if type(seed) is int), None)


def about_estimators(
    estimators: Sequence[str], described: Mapping[str, Mapping[str, Any]], estimands: Collection[str]
) -> Iterator[Problem]:
    """Yield which estimators the run does not describe, and which estimate something of which it has no truth."""
    unknown = [name for name in estimators if "target_estimand" not in described.get(name, {})]
    # A few rows without any description are no run that forgot one.
    if unknown and described:
        message = f"neither the run's manifest nor estimator_metadata.csv says what these estimate: {_some(unknown)}"
        yield Problem(message, column="estimator_name")
    others = [
        f"{name} ({clip_for_message(str(estimand))})"
        for name in estimators
        if (estimand := described.get(name, {}).get("target_estimand")) is not None and estimand not in estimands
    ]
    if others and estimands:
        yield Problem(f"the run has no truth of what these estimate: {_some(others)}", column="target_estimand")


def about_classes(metrics: Collection[str], scores: ScoreTable) -> Iterator[Problem]:
    """Yield which metrics cannot be computed without the scores and classes that they are made of."""
    wanted = [name for name in metrics if name in CLASS_METRICS]
    if wanted and (CLASS_SCORE not in scores.columns or np.isnan(scores.value(CLASS_SCORE)).all()):
        message = (
            f"{', '.join(wanted)} cannot be computed: they need raw/estimates.csv, and raw/truths.csv with the class "
            f"of each record ({CLASS_ESTIMAND}), and an estimator of it"
        )
        yield Problem(message, column="metric_name")


def _some(names: Sequence[str]) -> str:
    return first_few(names, SHOWN, clip_for_message)
