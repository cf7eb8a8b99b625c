"""The metrics of rankings, each the mean over groups of a group's score. Read by `app.kinds.predictions.metrics`.

Each has its own truncation. Ties of the prediction are broken at random, on average, so that a constant prediction gets
what a random order gets; YDF's rule, the best case, is shown beside it.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from app.kinds.predictions.glossary import YDF_RULE
from app.kinds.predictions.metric_type import PredictionMetric, mean_of
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray
from app.stats.ranking import RankedGroups
from app.stats.spreads import SHARE
from app.values.glossary_entry import Entry

OfGroups = Callable[[RankedGroups, int], FloatArray]


def _of_groups(metric: str, of: OfGroups, task: TaskPredictions) -> FloatArray:
    """Return the score of each group; one with a failure has no ranking at all and scores nothing."""
    scores: FloatArray = of(task.ranked, task.part.truncation_of(metric)) * task.has_ranking
    return scores


def _of_a_random_order(metric: str, of: OfGroups, task: TaskPredictions) -> float:
    return float(np.average(of(task.ranked.of_equals(), task.part.truncation_of(metric)), weights=task.unit_weights))


def _mrr(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).mrr


def _map(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).average_precision


def _precision_at_1(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).precision_at_1


def _ndcg(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.ndcg(truncation)


def _row(
    name: str, of: OfGroups, words: str, entry: Entry, *, metric: str | None = None, beside: tuple[str, ...] = ()
) -> PredictionMetric:
    of_metric = metric or name
    return PredictionMetric(
        name=name,
        tasks=frozenset({"ranking"}),
        direction="maximize",
        within=SHARE,
        score=mean_of(partial(_of_groups, of_metric, of)),
        words=words,
        entry=entry,
        beside=beside,
        default=partial(_of_a_random_order, of_metric, of),
    )


ndcg_of_groups = partial(_of_groups, "ndcg", _ndcg)

RANKING_METRICS = (
    _row(
        "ndcg",
        _ndcg,
        "NDCG",
        Entry(
            "ndcg",
            "NDCG",
            "How much of the possible gain the top of a ranking has, relevant items counting more the higher they "
            "stand; higher is better. 1 is the best order of each group. Gains are averaged over ties of the "
            "prediction, and a group without anything relevant scores 0 and stays in the mean.",
            "DCG / ideal DCG, DCG = Σ over the first T of (2^relevance − 1) / log2(rank + 1); T is 5 unless declared",
            "Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; Burges et al. 2005",
        ),
    ),
    _row(
        "mrr",
        _mrr,
        "MRR",
        Entry(
            "mrr",
            "MRR",
            "The mean over groups of one over the rank of the first relevant item; higher is better. A group without "
            "one among the first T scores 0. Items with the same prediction are put in a random order, and all those "
            "orders averaged.",
            "mean of 1 / rank of the first relevant item; ties: E[1 / rank]",
            "McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence "
            "of tied scores",
        ),
        beside=("ydf",),
    ),
    _row(
        "map",
        _map,
        "MAP",
        Entry(
            "map",
            "MAP",
            "The mean over groups of the precision at each relevant item among the first T, a relevant item that is "
            "left out of them counting 0 as far as they had room for it; higher is better. Unlike the MRR it sees "
            "every relevant item. Items with the same prediction are put in a random order, and all those orders "
            "averaged.",
            "mean over groups of E[Σ over relevant items among the first T of precision at its rank] / the smaller of "
            "T and the number of relevant items",
            "McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence "
            "of tied scores",
        ),
        beside=("ydf",),
    ),
    _row(
        "precision@1",
        _precision_at_1,
        "precision@1",
        Entry(
            "precision_at_1",
            "Precision@1",
            "The share of groups whose first item is one of the most relevant; higher is better. Of several items with "
            "the largest prediction the share counts that is as relevant as any of the group; a group without "
            "anything relevant scores 0. The order of the labels does not matter.",
        ),
        beside=("ydf",),
    ),
    _row(
        "mrr_ydf",
        lambda ranked, truncation: ranked.scores(truncation).mrr,
        "MRR by YDF's rule",
        YDF_RULE,
        metric="mrr",
    ),
    _row(
        "map_ydf",
        lambda ranked, truncation: ranked.scores(truncation).average_precision,
        "MAP by YDF's rule",
        YDF_RULE,
        metric="map",
    ),
    _row(
        "precision@1_ydf",
        lambda ranked, truncation: ranked.scores(truncation).precision_at_1,
        "precision@1 by YDF's rule",
        YDF_RULE,
        metric="precision@1",
    ),
)
