"""Which files of an upload are what of a run of lrdbench, whether they came as a zipped folder or one by one.

Called by `app.kinds.series.read`. Source of the names: lrdbench's public output contract, version 1.1.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from app.errors import Problem
from app.files.findings import Findings
from app.files.uploads import ReceivedFile

SUFFIXES = (".csv", ".json", ".yaml", ".yml", ".html", ".tex", ".txt", ".png", ".npy")

METRICS, ESTIMATES, TRUTHS, RECORDS = "metrics.csv", "estimates.csv", "truths.csv", "records.csv"
ESTIMATORS, MANIFEST = "estimator_metadata.csv", "benchmark_manifest.yaml"
STRATA, UNCERTAIN = "per_stratum_metrics.csv", "benchmark_uncertainty.csv"
BOARD, RAW_BOARD = "leaderboard.csv", "leaderboards.csv"
READ = (METRICS, ESTIMATES, TRUTHS, RECORDS, ESTIMATORS, MANIFEST, STRATA, UNCERTAIN, BOARD, RAW_BOARD)
# Of the contract, and computed here from the rows or of no use for it.
NOT_READ = (
    "artefacts.csv",
    "artefact_index.csv",
    "failures.csv",
    "failure_map.csv",
    "run_summary.csv",
    "run_summary.json",
    "environment.json",
    "correction_metrics.csv",
    "estimator_disagreement.csv",
    "scale_window_sensitivity.csv",
    "stress_metrics.csv",
    "uncertainty_calibration.csv",
)
FOLDERS = ("raw", "tables", "manifest", "html", "latex", "artefacts", "figures")


@dataclass(frozen=True)
class RunFiles:
    """The files of one run that are read, by the name that the contract gives them."""

    folder: str
    files: dict[str, ReceivedFile] = field(default_factory=dict)

    def get(self, name: str) -> ReceivedFile | None:
        """Return a file, None when the run does not have it."""
        return self.files.get(name)


def split_runs(files: Sequence[ReceivedFile], findings: Findings, warnings: list[Problem]) -> Sequence[RunFiles]:
    """Return the runs of an upload. A run is a folder; files without one are one run."""
    runs: dict[str, RunFiles] = {}
    # A file that could not be unpacked is not missing.
    is_whole = findings.n_problems == 0
    for file in files:
        name = PurePosixPath(file.name).name.lower().removesuffix(".gz")
        if name in READ:
            run = runs.setdefault(_folder(file.name), RunFiles(_folder(file.name)))
            if name in run.files:
                findings.add(Problem(f"the run has this file already: {run.files[name].name}", file=file.name))
            run.files.setdefault(name, file)
        elif name.endswith((".csv", ".json")) and name not in NOT_READ:
            warnings.append(Problem("not a file of a run that is read here; it was ignored", file=file.name))
    findings.extend(_missing(runs) if is_whole else [])
    return list(runs.values())


def _missing(runs: Mapping[str, RunFiles]) -> list[Problem]:
    message = "raw/metrics.csv is missing: its per-series rows are the evidence, everything else is computed from them"
    if not runs:
        return [Problem(message, column="files")]
    return [Problem(message, file=run.folder or None, column="files") for run in runs.values() if not run.get(METRICS)]


def _folder(name: str) -> str:
    parent = PurePosixPath(name).parent
    home = parent.parent if parent.name in FOLDERS else parent
    return "" if str(home) == "." else str(home)
