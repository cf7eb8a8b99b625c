"""The metrics of rankings, each the mean over groups of a group's score. Read by `app.kinds.predictions.metrics`."""

from collections.abc import Callable

import numpy as np

from app.kinds.predictions.glossary import YDF
from app.kinds.predictions.metric import PredictionMetric, mean_of
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray
from app.stats.ranking import GroupScores
from app.values.glossary_entry import Entry


def _of_groups(of: Callable[[GroupScores], FloatArray]) -> Callable[[TaskPredictions], FloatArray]:
    """Return the score of each group; one with a failure has no ranking at all and scores nothing."""
    return lambda task: of(task.ranked.scores(task.part.truncation)) * task.has_ranking


ndcg_of_groups = _of_groups(lambda scores: scores.ndcg)


def _default_ndcg(task: TaskPredictions) -> float:
    default = task.ranked.scores(task.part.truncation).default_ndcg
    return float(np.average(default, weights=task.unit_weights))


RANKING_METRICS = (
    PredictionMetric(
        name="ndcg",
        tasks=frozenset({"ranking"}),
        direction="maximize",
        score=mean_of(ndcg_of_groups),
        words="NDCG",
        default=_default_ndcg,
        entry=Entry(
            "ndcg",
            "NDCG",
            "How much of the possible gain the top of a ranking has, relevant items counting more the higher they "
            "stand; higher is better. 1 is the best order of each group. Gains are averaged over ties of the "
            "prediction, and a group without anything relevant scores 0 and stays in the mean.",
            "DCG / ideal DCG, DCG = Σ over the first T of (2^relevance − 1) / log2(rank + 1); T is 5 unless declared",
            "Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; Burges et al. 2005",
        ),
    ),
    PredictionMetric(
        name="mrr",
        tasks=frozenset({"ranking"}),
        direction="maximize",
        score=mean_of(_of_groups(lambda scores: scores.mrr)),
        words="MRR",
        entry=Entry(
            "mrr",
            "MRR",
            "The mean over groups of one over the rank of the first relevant item; higher is better. A group without "
            "one among the first T scores 0.",
            "mean of 1 / rank of the first relevant item",
        ),
    ),
    PredictionMetric(
        name="map",
        tasks=frozenset({"ranking"}),
        direction="maximize",
        score=mean_of(_of_groups(lambda scores: scores.average_precision)),
        words="MAP",
        entry=Entry(
            "map",
            "MAP",
            "The mean over groups of the precision at each relevant item among the first T; higher is better. Unlike "
            "the MRR it sees every relevant item there.",
            "mean over groups of (Σ over relevant items of precision at its rank / number of them among the first T)",
        ),
    ),
    PredictionMetric(
        name="precision@1",
        tasks=frozenset({"ranking"}),
        direction="maximize",
        score=mean_of(_of_groups(lambda scores: scores.precision_at_1)),
        words="precision@1",
        entry=Entry(
            "precision_at_1",
            "Precision@1",
            "The share of groups whose first item is the most relevant one; higher is better. Where several are "
            "equally relevant only the first of them in the labels counts, which is YDF's rule.",
            source=YDF,
        ),
    ),
)
