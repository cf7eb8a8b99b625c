"""How long a reader waits for a board of their own: `python -m bench.explored`.

Made-up scores of 324 entrants on 41 tasks and of 2,000 on 1,500; half of the tasks are chosen, so that everything is
computed anew. Printed is processor time, which a busy machine stretches little, of the second and the third choice:
whoever comes first also waits for the rows.
"""

import time
from collections.abc import Iterator

import numpy as np

from app.boards.evidence import BoardEvidence
from app.boards.explore import Choice, chosen_board
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.render.html import render_page
from app.render.table_page import TablePage, TableView
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

SIZES = ((324, 41), (2_000, 1_500))
METHODS = ("mean", "borda", "mean_rank", "mean_win_rate", "skill_score")
MANIFEST = """\
schema_version: 1
slug: made-up
title: Made up
evidence: evaluation_summary
metrics: {{error: {{direction: minimize, min: 0}}}}
tasks: [{tasks}]
leaderboards:
{boards}
"""


def manifest_of(n_tasks: int) -> Manifest:
    """Return a benchmark with a board of each method."""
    tasks = ", ".join(f"{{id: t{at}}}" for at in range(n_tasks))
    boards = [f"  - {{name: {name.replace('_', '-')}, method: {name}, metric: error{_more(name)}}}" for name in METHODS]
    return parse_manifest(MANIFEST.format(tasks=tasks, boards="\n".join(boards)).encode())


def _more(name: str) -> str:
    return ", baseline: e0" if name == "skill_score" else ""


def scores_of(n_entrants: int, n_tasks: int) -> ScoreTable:
    """Return an error for each entrant and task."""
    rng, n = np.random.default_rng(1), n_entrants * n_tasks
    at = np.arange(n)
    skill = rng.uniform(0.5, 1.5, n_entrants)
    return ScoreTable(
        entrant=Coded(tuple(f"e{each}" for each in range(n_entrants)), at // n_tasks),
        task=Coded(tuple(f"t{each}" for each in range(n_tasks)), at % n_tasks),
        columns=("error",),
        values=(skill[at // n_tasks] * rng.lognormal(0.0, 0.3, n))[:, None],
        leaked=np.zeros(n, dtype=np.bool_),
        file=np.zeros(n, dtype=np.int64),
        row=at,
    )


def timed(n_entrants: int, n_tasks: int) -> Iterator[str]:
    """Yield a line for each method: how long the second and third choice take, and the page of the last."""
    manifest, rows = manifest_of(n_tasks), scores_of(n_entrants, n_tasks)
    evidence = BoardEvidence.of_rows(manifest, rows)
    for spec in manifest.leaderboards:
        took = []
        for shift in range(3):
            chosen = tuple(f"t{at}" for at in range(shift, n_tasks, 2))
            began = time.process_time()
            table = chosen_board(spec, evidence, Choice(tasks=chosen))
            took.append(time.process_time() - began)
        began = time.process_time()
        n_bytes = len(_page(table))
        page = time.process_time() - began
        shown = ", ".join(f"{1000 * each:.0f} ms" for each in took[1:])
        yield f"{n_entrants:,} × {n_tasks:,} {spec.method}: {shown}; its page {1000 * page:.0f} ms, {n_bytes:,} bytes"


def _page(table: Table) -> bytes:
    return render_page(TablePage(title=table.title, view=TableView("made-up", "/a", table), asked=()))


if __name__ == "__main__":
    for size in SIZES:
        for line in timed(*size):
            print(line, flush=True)
