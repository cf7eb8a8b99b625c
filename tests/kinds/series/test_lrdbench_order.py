"""lrdbench's own order, ranks and scores of every run, under the manifest that `import-lrdbench --run` makes."""

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import WeightedRank
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.series.contract import contract_leaderboard
from app.kinds.series.from_lrdbench import manifest_from_lrdbench, records_of_run, rows_of_run
from app.kinds.series.summary import check_series_claims
from app.manifest.model import Manifest
from app.values.table import Table
from tests.cases.evidence_tables import read
from tests.cases.series_runs import CLASSES_ONLY, GIVEN, LIMITS, RUNS, given_manifest, read_given, rows_of_member

ALL = GIVEN | {path.stem: path for path in sorted((RUNS / "ranked").glob("*.zip"))}


@dataclass(frozen=True)
class Run:
    """A run of lrdbench, its benchmark, and the benchmark's boards."""

    path: Path
    manifest: Manifest
    evidence: Evidence
    boards: list[Table]


@pytest.fixture(scope="module", params=sorted(ALL))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Import a run's manifest with its run, and rank the run."""
    path, name = ALL[request.param], request.param
    with zipfile.ZipFile(path) as archive:
        theirs = archive.read(f"{name}/manifest/benchmark_manifest.yaml")
    # A run of metrics of classes alone has no row of one series, and so no grid.
    records = {} if name == CLASSES_ONLY else records_of_run(path)
    imported = manifest_from_lrdbench(theirs, None, None, records, rows_of_run(path) if records else ())
    manifest = parse_manifest(imported)
    evidence = read(tmp_path_factory.mktemp("run"), {path.name: path.read_bytes()}, manifest, limits=LIMITS)
    boards = [
        compute(manifest, spec, evidence.scores).leaderboard
        for spec in manifest.leaderboards
        if isinstance(spec, WeightedRank)
    ]
    return Run(path, manifest, evidence, boards)


def test_order_ranks_and_scores_are_lrdbenchs(run: Run) -> None:
    """Every row of tables/leaderboard.csv, which ours is too, in its order; every component to its last digits."""
    theirs = rows_of_member(run.path, "tables/leaderboard.csv")
    ours = list(contract_leaderboard(run.boards).records())

    assert [(row["estimator_name"], row["rank"], row["score"]) for row in ours] == [
        (row["estimator_name"], int(row["rank"]), float(row["score"])) for row in theirs
    ]
    for mine, row in zip(ours, theirs, strict=True):
        named = {name: float(text) for name, text in row.items() if name.startswith("metric__") and text}
        assert {name: mine[name] for name in named} == pytest.approx(named, rel=1e-12, abs=1e-15)


def test_the_raw_leaderboards_are_equal_too(run: Run) -> None:
    """raw/leaderboards.csv has the components as JSON, null for what an estimator has no value of."""
    theirs = rows_of_member(run.path, "raw/leaderboards.csv")
    ours = [row for board in run.boards for row in board.records()]

    assert [(row["entrant"], row["rank"], row["score"]) for row in ours] == [
        (row["estimator_name"], int(row["rank"]), float(row["score"])) for row in theirs
    ]
    for mine, row in zip(ours, theirs, strict=True):
        components = {
            name.removeprefix("metric__").partition("@")[0]: value
            for name, value in mine.items()
            if name in {column.name for board in run.boards for column in board.columns if not column.detail}
            and name.startswith("metric__")
        }
        for name, value in json.loads(row["components_json"]).items():
            assert components[name] == (None if value is None else pytest.approx(value, rel=1e-12, abs=1e-15))


def test_the_runs_own_leaderboard_agrees(run: Run) -> None:
    """All that it claims of its boards is compared, and nothing is left over."""
    boards = [claim for claim in run.evidence.facts.claimed if claim.table == "leaderboard"]
    (check,) = check_series_claims(run.manifest, run.evidence.scores, boards)

    assert boards
    assert check.outcome == "passed"
    assert check.reason.endswith(" claimed values that can be compared agree.")


def test_who_has_gaps_says_how_many(run: Run) -> None:
    """A declared failure is attempted and not included; nothing that a run leaves out by design counts as absent."""
    for row in (row for board in run.boards for row in board.records()):
        assert row["n_absent"] == 0
        assert row["n_attempted"] - row["n_included"] == row["n_failed"]
        assert row["covered"] == f"{row['n_included']:,} of {row['n_attempted']:,}"


def test_a_false_cell_of_a_leaderboard_is_named_and_what_cannot_be_compared_does_not_agree(tmp_path: Path) -> None:
    """With the estimator, the board, what is claimed and what the rows give; and claims about a board that is not one
    of the benchmark's.
    """
    name = "public_small_canonical_ground_truth"
    manifest, evidence = given_manifest(name), read_given(name, tmp_path)
    claimed = [claim for claim in evidence.facts.claimed if claim.table == "leaderboard"]
    for metric, value in (("rank", 9.0), ("score", 9.5), ("mae", 0.0)):
        at = next(at for at, claim in enumerate(claimed) if claim.metric == metric)
        false = [*claimed[:at], replace(claimed[at], value=value), *claimed[at + 1 :]]
        (check,) = check_series_claims(manifest, evidence.scores, false)

        assert check.outcome == "warned"
        assert check.reason.startswith("1 claimed values differ")
        assert f"{claimed[at].entrant} {metric} in canonical-accuracy: {value!r} claimed" in check.reason
    elsewhere = [replace(claim, board="another") for claim in claimed]
    (check,) = check_series_claims(manifest, evidence.scores, elsewhere)
    assert check.outcome == "warned"
    assert check.reason == (
        f"None of the claimed values can be compared. {len(claimed)} more cannot be compared with anything of "
        "this benchmark."
    )
