"""What the pages of a benchmark of episodes say: an example upload and the glossary."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from app.kinds.contract import ANY_CONDITION, MODEL, ColumnUse, Pages, Rule, UploadExample, example_score, first_task
from app.kinds.episodes.manifest_part import EpisodesPart
from app.manifest.model import FILE, Manifest, part_of
from app.values.glossary import GlossaryEntry


def _rules(manifest: Manifest) -> Sequence[Rule]:
    drawn = Rule(
        "Seeds, episodes and conditions exactly as registered; intervals resample ",
        "seeds, then episodes",
        "cluster",
        ", never all episodes together.",
    )
    if not manifest.part.has_seeds():
        drawn = Rule(
            "Items and conditions exactly as registered; without seeds intervals resample items, or clusters of them."
        )
    return (
        drawn,
        Rule(
            "Every episode has its scores: an empty one keeps a run out under the failure policy strict, and counts "
            "as the worst there is under best_effort. Where no preregistration says which, the policy is "
            f"{manifest.admission.failure_policy}."
        ),
        Rule("Power and debug runs are stored and shown, never ranked."),
    )


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of a table of episodes; its rows name the entrant where the manifest says in which column."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per episode",
        names_entrant=_names_entrant(manifest),
        may_name_entrant=True,
        or_else="Or a result bundle of CHAMBER as a zip, or JSON Lines.",
    )


PAGES = Pages(example=example, rules=_rules)


def _names_entrant(manifest: Manifest) -> bool:
    """Say whether the manifest itself gives the column of the entrant, which CHAMBER's files do not have."""
    declared = part_of(manifest, EpisodesPart).episodes
    return declared is not None and "entrant" in declared.model_fields_set


# An example upload of episodes: a row per episode.


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    where = part_of(manifest, EpisodesPart).where
    cells = manifest.asked.cells_of(first_task(manifest), MODEL)
    if _names_entrant(manifest):
        yield ColumnUse(where.entrant, "the entrant's name", MODEL)
    if where.seed is not None:
        seed = str(cells.seeds[0]) if isinstance(cells.seeds, tuple) else "0"
        yield ColumnUse(where.seed, "the seed, a whole number", seed)
    if where.task is not None:
        yield ColumnUse(where.task, "the task", first_task(manifest))
    if where.condition_paths:
        condition = (where.conditions or cells.conditions or (ANY_CONDITION,))[0]
        yield ColumnUse(where.condition_paths[0], "the condition", condition)
    columns = part_of(manifest, EpisodesPart).item_columns
    known = cells.items[0] if isinstance(cells.items, tuple) else "0"
    parts = [known] if len(columns) == 1 else known.split("/") if len(columns) == known.count("/") + 1 else []
    has_file = manifest.grid is not None and manifest.grid.of(first_task(manifest), MODEL).items == FILE
    of_file = "an item of the steward's file" if has_file else None
    for name, part in zip_longest(columns, parts, fillvalue="0"):
        yield ColumnUse(name, of_file or "what tells episodes of one seed apart", part)
    sources = {metric.source or name: (name, metric) for name, metric in manifest.metrics.items()}
    for column, (name, metric) in sources.items():
        cell = "true" if name in where.boolean else example_score(metric)
        yield ColumnUse(column, f"{metric.title or 'metric'} of the episode", cell)


# Glossary entries of multi-seed evidence: estimates of episodes.

ENTRIES = (
    GlossaryEntry(
        "estimate",
        "Estimate with its interval",
        "A metric of one entrant with the interval that its own evidence supports. Every entrant is measured apart, so "
        "nobody else's results change it. Over several tasks it is the average of the tasks, each with the same weight "
        "unless the board declares others.",
        source="STATISTICS contract; Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical "
        "precipice",
    ),
    GlossaryEntry(
        "cluster",
        "Cluster bootstrap",
        "Seeds are drawn with replacement, then episodes with replacement within each drawn seed. Episodes of one seed "
        "resemble each other, so treating all of them as independent makes intervals too narrow: a pooled bootstrap is "
        "refused for anything that is ranked. With fewer than two seeds there is no interval.",
        "draw S seeds, then n episodes in each drawn seed; the statistic of what was drawn",
        "Davison & Hinkley 1997, Bootstrap methods and their application, section 3.8",
    ),
    GlossaryEntry(
        "design_effect",
        "Design effect",
        "How many times larger the variance of a score is with its clusters as units than if its items were "
        "independent. At 4 a score is as sure as that of a quarter of the items.",
        "variance between clusters / variance between items",
        "Kish 1965, Survey sampling, section 8.2",
    ),
    GlossaryEntry(
        "iqm",
        "Interquartile mean (IQM)",
        "The mean of the middle half of the scores. A quarter is dropped at each end, rounded down, so that a few "
        "lucky or broken episodes do not decide. Of yes-or-no scores it is 0 below a quarter of successes and 1 above "
        "three quarters: read it beside the mean, which is always published too. A rate of violations is a mean unless "
        "the board declares otherwise, because what is rare would be trimmed away.",
        "sort, drop floor(n / 4) at each end, mean of the rest",
        "Agarwal et al. 2021, section 4.3",
    ),
    GlossaryEntry(
        "optimality_gap",
        "Optimality gap",
        "How far scores stay below a declared threshold, on average. Scores above the threshold count as reaching it "
        "and cannot make up for others.",
        "mean(max(threshold − x, 0))",
        "Agarwal et al. 2021, section 4.3",
    ),
    GlossaryEntry(
        "profile",
        "Performance profile",
        "For each threshold the share of episodes that score above it. A curve above another one everywhere is better "
        "at every level of ambition; curves that cross are not comparable by one number. The band is the "
        "calibrated interval of each share by itself, so a curve may leave it somewhere in more than one of twenty; "
        "percentiles of the resamples are the compatible interval.",
        "share of x > τ",
        "Dolan & Moré 2002; Agarwal et al. 2021, section 4.2",
    ),
    GlossaryEntry(
        "composite",
        "Composite (HRS)",
        "A weighted mean over axes, of those that are there, with its components beside it. CHAMBER's weights are CM "
        "1.0, PF 0.9, CR 0.8, SA 0.7, OM 0.6 and AS 0.5; where an axis is missing the composite is marked as partial.",
        "Σ wᵢ sᵢ / Σ wᵢ",
    ),
    GlossaryEntry(
        "gap",
        "Gap of an axis",
        "How much more an entrant scores in the condition that an axis is compared with (homogeneous) than in the one "
        "that counts (heterogeneous), in the metric's own unit: of a success rate 0.29 are 29 percentage points, "
        "CHAMBER's gap_pp. Episodes of the two are paired by seed and item. It does not rank.",
        "mean over pairs of homogeneous − heterogeneous",
        "CHAMBER, HRS vector",
    ),
    GlossaryEntry(
        "quantile",
        "Quantile",
        "The value that a share of the episodes does not exceed: p50 is the median, max the largest. Its interval is "
        "bounded by two scores that occurred. Between them the share of episodes at most as large cannot be told from "
        "the quantile, seeds being the clusters. Few seeds allow no such ends near the edge, and a maximum has none at "
        "all, because nothing that was seen says how much further it can go.",
        "linear between scores; interval by inverting that of the share at most x",
        "Woodruff 1952, Confidence intervals for medians and other position measures",
    ),
    GlossaryEntry(
        "partial", "Partial", "Some of the tasks or axes that the board counts have no result of this entrant."
    ),
    GlossaryEntry(
        "labels",
        "Not a contender",
        "Shown for comparison and never ranked. An oracle reference or an upper anchor has information, or a "
        "partner, that a contender cannot have.",
    ),
    GlossaryEntry(
        "counts",
        "Seeds, episodes, records, examples, failed",
        "How many seeds, episodes, records, examples or groups of them the numbers rest on. Failed ones were attempted "
        "and have no score; they are counted, and never left out of a ranking. An episode without a score that ranks "
        "counts as the worst value there is, where its registration allows one at all; so does an example without a "
        "prediction, which has a truth to be compared with.",
    ),
    GlossaryEntry(
        "difference",
        "Difference",
        "A minus B in the metric's own unit, with its interval. Where both were measured on the same episodes or "
        "examples the difference is taken pair by pair, which removes what both have in common.",
    ),
)
