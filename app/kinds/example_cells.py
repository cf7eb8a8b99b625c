"""What the examples of uploads of several kinds have in common: names and cells that a benchmark would take.

Called by `example.py` of each kind and by `app.render.submit_example`.
"""

from app.manifest.manifest import Manifest
from app.manifest.metric import Metric

MODEL = "my-model"
ANY_TASK = "any-task"
ANY_CONDITION = "a-condition"
EXAMPLE_VALUE = 0.5


def first_task(manifest: Manifest) -> str:
    """Return a task that rows may name."""
    return (manifest.task_ids() or (ANY_TASK,))[0]


def better(metric: Metric) -> str:
    """Return which way a metric is better, in words."""
    return "higher is better" if metric.direction == "maximize" else "lower is better"


def example_score(metric: Metric) -> str:
    """Return a value that a metric may have."""
    if metric.above is not None:
        return str(metric.above)
    low = EXAMPLE_VALUE if metric.min is None else max(EXAMPLE_VALUE, metric.min)
    return str(low if metric.max is None else min(low, metric.max))
