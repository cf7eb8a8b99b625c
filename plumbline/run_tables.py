"""Tables of tracked runs as rows to submit. Needs pandas, which the extra `pandas` installs.

MLflow's table is what `mlflow.search_runs()` returns: a run in each row, `metrics.…`, `params.…` and `tags.…`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plumbline.errors import EvidenceRejected, Problem

if TYPE_CHECKING:
    import pandas as pd

METRICS, FINISHED = "metrics.", "FINISHED"
FIRST_ROW = 2


def from_mlflow(
    runs: "pd.DataFrame | str | Path", *, entrant: str, task: str, seed: str | None = None, metrics: Sequence[str] = ()
) -> "pd.DataFrame":
    """Return a row for each run: `entrant`, `task`, `seed` where it is named, `run_id`, and its metrics.

    `runs` is the frame, or its CSV; `entrant`, `task` and `seed` are the columns that say them, such as `params.model`.
    Without `metrics` all of them are taken. Raises EvidenceRejected with every problem: another table, runs that did
    not finish (leave them out yourself: which runs count is yours to say), two runs of one entrant, task and seed.
    """
    frame = _read(runs)
    name = runs.name if isinstance(runs, Path) else runs if isinstance(runs, str) else None
    found = [column.removeprefix(METRICS) for column in frame.columns if str(column).startswith(METRICS)]
    told = {"entrant": entrant, "task": task, **({} if seed is None else {"seed": seed})}
    wanted = list(metrics) or found
    problems = [*_missing(frame, told.values(), name), *_missing(frame, [f"{METRICS}{each}" for each in wanted], name)]
    if not found:
        problems.append(Problem(f"no column begins with {METRICS}: this is no table of MLflow's runs", name))
    if not problems:
        problems = [*_unfinished(frame, name), *_empty(frame, told, name), *_repeated(frame, list(told.values()), name)]
    if problems:
        raise EvidenceRejected("The runs cannot be submitted as they are.", problems)
    columns: dict[str, Any] = {key: frame[column].astype("string") for key, column in told.items()}
    columns["run_id"] = frame["run_id"].astype("string") if "run_id" in frame.columns else None
    return type(frame)(columns | {each: frame[f"{METRICS}{each}"] for each in wanted})


def _read(runs: "pd.DataFrame | str | Path") -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("tables of runs need pandas: pip install pandas") from None
    # As text, so that a seed 0 stays 0 and a name that looks like a number stays a name; metrics are numbers.
    if isinstance(runs, pd.DataFrame):
        return runs
    header = pd.read_csv(runs, nrows=0).columns
    texts = {column: "string" for column in header if not str(column).startswith(METRICS)}
    return pd.read_csv(runs, dtype=texts)


def _missing(frame: "pd.DataFrame", columns: Any, file: str | None) -> list[Problem]:
    known = ", ".join(map(str, frame.columns[:40]))
    return [
        Problem(f"the column is missing; the table has {known}", file, column=column, is_missing=True)
        for column in columns
        if column not in frame.columns
    ]


def _unfinished(frame: "pd.DataFrame", file: str | None) -> list[Problem]:
    if "status" not in frame.columns:
        return []
    message = "the run did not finish; leave it out, or run it again"
    return [
        Problem(message, file, at + FIRST_ROW, "status", str(status))
        for at, status in enumerate(frame["status"])
        if str(status) != FINISHED
    ]


def _empty(frame: "pd.DataFrame", told: dict[str, str], file: str | None) -> list[Problem]:
    return [
        Problem(f"the run does not say its {key}", file, at + FIRST_ROW, column)
        for key, column in told.items()
        for at, is_empty in enumerate(frame[column].isna())
        if is_empty
    ]


def _repeated(frame: "pd.DataFrame", columns: list[str], file: str | None) -> list[Problem]:
    message = f"another run has the same {', '.join(columns)}; keep the one that counts"
    return [
        Problem(message, file, at + FIRST_ROW, columns[0], str(frame[columns[0]].iloc[at]))
        for at, is_repeated in enumerate(frame.duplicated(columns))
        if is_repeated
    ]
