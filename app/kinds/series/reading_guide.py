"""What may and may not be claimed from a benchmark of series, by its mode. Shown on each of its pages.

Called by the web. Source: lrdbench's interpretation semantics, in our words.
"""

from collections.abc import Mapping

from app.kinds.series.catalog import Mode

GUIDES: Mapping[Mode, str] = {
    "ground_truth": (
        "Ground truth: accuracy and coverage may be claimed, relative to the synthetic truth that the benchmark "
        "declares, and so relative to its model. Nothing here says how an estimator does on series of another kind. "
        "Read accuracy beside validity and failures: a good mean over a few valid records is not a good estimator."
    ),
    "stress_test": (
        "Stress test: degradation and robustness may be claimed, relative to the clean and the contaminated series of "
        "this design. Another operator, or another severity, may order the estimators otherwise. Read changes beside "
        "validity and failures. The series are synthetic."
    ),
    "observational": (
        "Observational: stability and sensitivity may be claimed, and nothing else. There is no truth here, so no "
        "accuracy, no coverage and no rate of false positives. Read stability beside validity and failures."
    ),
}
OF_EVERY_BOARD = (
    " Leaderboards are configured summaries, not universal rankings: report with one its manifest, its weights and "
    "the raw values of its components. Intervals that estimators give for one series are not those of the benchmark."
)


def guide_of(mode: Mode | None) -> str | None:
    """Return the reading guide of a mode; a benchmark that is not of series has neither."""
    return None if mode is None else GUIDES[mode] + OF_EVERY_BOARD
