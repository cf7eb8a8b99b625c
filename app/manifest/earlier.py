"""Earlier versions of a benchmark, against which files written for them are checked: without later additions.

Called by `app.receiving.written_for` and by `app.kinds.reader`. Rules, directions and ranges are today's; only metrics
and tasks added later are not asked for. Pure.
"""

from collections.abc import Collection, Iterable, Sequence

from app.errors import Problem
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest


def as_asked_by(today: Manifest, then: Manifest) -> Manifest | None:
    """Return today's manifest without the metrics and tasks that an earlier one lacks; None where nothing is left.

    A metric that was read from a different column counts as a different metric.
    """
    metrics = {name: metric for name, metric in today.metrics.items()
               if name in then.metrics and then.metrics[name].source == metric.source}  # fmt: skip
    known = then.task_ids()
    tasks = today.tasks
    if isinstance(tasks, list) and known is not None:
        tasks = [task for task in tasks if task.id in known]
    boards = [board for board in today.leaderboards if _is_about(board, metrics, known)]
    boards = boards or [board for board in then.leaderboards if _is_about(board, metrics, known)]
    if not metrics or not tasks or not boards:
        return None
    claims = {name: claim for name, claim in today.claims.items() if claim.metric in metrics}
    kept = {"metrics": metrics, "tasks": tasks, "leaderboards": boards, "claims": claims}
    return today.model_copy(update=kept)


def _is_about(board: Leaderboard, metrics: Collection[str], tasks: Collection[str] | None) -> bool:
    """Say whether a board uses only metrics and tasks that existed."""
    ranked = board.ranked_tasks()
    return set(board.metric_names()) <= set(metrics) and (tasks is None or ranked is None or set(ranked) <= set(tasks))


def is_without(problems: Sequence[Problem], n_problems: int, now: Manifest, then: Manifest) -> bool:
    """Say whether the only problem with files is missing columns of metrics that the earlier version lacks."""
    added = set(now.metrics) - set(then.metrics)
    return len(problems) == n_problems and all(each.is_missing and each.column in added for each in problems)


def written_for(versions: Sequence[Manifest], at: int, tasks: Iterable[str]) -> int:
    """Return the index of the version that rows were written for, starting at the one they were read under.

    `versions` are from `as_asked_by`, newest first. Rows without any task that a version added, where it added no
    metric either, were written for the version before.
    """
    delivered, place_of_rows = set(tasks), at
    for place in range(at, len(versions) - 1):
        now, before = versions[place], versions[place + 1]
        added = set(now.task_ids() or ()) - set(before.task_ids() or ())
        if set(now.metrics) - set(before.metrics) or added & delivered:
            break
        place_of_rows = place + 1 if added else place_of_rows
    return place_of_rows
