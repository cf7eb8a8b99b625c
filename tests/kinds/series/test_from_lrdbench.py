"""Manifests made from lrdbench's own."""

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from app.boards.methods.weighted_rank.records import WeightedRank
from app.cli.__main__ import run
from app.errors import ManifestRejected, TooLarge
from app.kinds.parse import parse_manifest
from app.kinds.series import from_lrdbench
from app.kinds.series.from_lrdbench import LIMITS, RunRow, manifest_from_lrdbench, records_of_run, rows_of_run
from app.kinds.series.manifest_part import SeriesPart
from app.manifest.model import part_of
from tests.cases.series_runs import EXAMPLES, MANIFESTS

EXAMPLE_OF = {
    "lrdbench": ("rich_stress", "lrdbench: stress test"),
    "lrdbench-canonical": ("public_small_canonical_ground_truth", "lrdbench: canonical ground truth"),
    "lrdbench-sensitivity": ("public_small_sensitivity_disagreement", "lrdbench: sensitivity and disagreement"),
    "lrdbench-observational": ("smoke_observational", "lrdbench: observational series"),
}
SMALL = """
name: small_one
mode: ground_truth
estimators: [{name: RS, family: temporal, target_estimand: H}]
metrics: [mae, {name: coverage, levels: [0.9, 0.95]}, coverage_error]
leaderboards: [{mode: ground_truth, component_metrics: [mae, coverage_error], weights: {mae: 0.5, coverage_error: 0.5}}]
seeds: {global_seed: 7}
"""


def problems_of(text: str) -> list[tuple[str | None, str]]:
    """Return the column and the message of everything that cannot be imported."""
    with pytest.raises(ManifestRejected) as refused:
        manifest_from_lrdbench(text.encode())
    return [(problem.column, problem.message) for problem in refused.value.problems]


def declared_by(theirs: bytes) -> SeriesPart:
    """Return what an imported manifest declares of series."""
    return part_of(parse_manifest(manifest_from_lrdbench(theirs)), SeriesPart)


@pytest.mark.parametrize("path", sorted(MANIFESTS.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_given_manifest_is_imported(path: Path) -> None:
    """Our own reader takes the result, with the same mode, boards and components."""
    theirs = yaml.safe_load(path.read_text())
    manifest = parse_manifest(manifest_from_lrdbench(path.read_bytes()))
    part = part_of(manifest, SeriesPart)
    components = [[name.partition("@")[0] for name in board.metric_names()] for board in manifest.leaderboards]

    assert part.mode == theirs["mode"]
    assert components == [board["component_metrics"] for board in theirs["leaderboards"]]
    assert bool(part.contamination) == (theirs["mode"] == "stress_test")


@pytest.mark.heavy
@pytest.mark.parametrize("slug", EXAMPLE_OF)
def test_an_example_is_what_the_import_gives(slug: str) -> None:
    """Making it again from its manifest and a run, whose records are the grid, changes nothing."""
    source, title = EXAMPLE_OF[slug]
    (run_of_it,) = (EXAMPLES / slug / "results").glob("*.zip")
    records = records_of_run(run_of_it)
    created = manifest_from_lrdbench((MANIFESTS / f"{source}.yaml").read_bytes(), slug, title, records)

    assert yaml.safe_load(created) == yaml.safe_load((EXAMPLES / slug / "manifest.yaml").read_bytes())


def test_uncertainty_comes_over_with_its_stream_and_variants_as_estimators() -> None:
    """Resamples, levels, seed, metrics and pairs are those of the run. lrdbench's stream, in which a peer moves the
    others, is that of its own table and of no verdict: boards draw by name. The base of variants is not enrolled.
    """
    rich = (MANIFESTS / "rich_stress.yaml").read_bytes()
    uncertainty = declared_by(rich).uncertainty
    boards = parse_manifest(manifest_from_lrdbench(rich)).leaderboards
    estimators = declared_by((MANIFESTS / "public_small_sensitivity_disagreement.yaml").read_bytes()).estimators

    assert uncertainty is not None
    assert (uncertainty.n_resamples, uncertainty.rng_seed, uncertainty.paired) == (500, 8, True)
    assert uncertainty.metrics == ["mae", "estimate_drift", "validity_rate", "coverage@0.95"]
    assert (uncertainty.paired_metrics, uncertainty.stream) == (["mae", "estimate_drift"], "lrdbench")
    assert {board.uncertainty.stream for board in boards} == {"independent"}
    assert estimators is not None
    assert estimators[:3] == ["DFA::short_scales", "DFA::long_scales", "DMA::short_windows"]
    assert len(estimators) == 6


def test_defaults_are_those_of_lrdbench() -> None:
    """A level that is not said is 0.95, a board without a name is counted, the first component breaks ties."""
    manifest = parse_manifest(manifest_from_lrdbench(SMALL.encode()))
    (board,) = manifest.leaderboards

    assert manifest.slug == "small-one"
    assert list(manifest.metrics) == ["mae", "coverage@0.9", "coverage@0.95", "coverage_error@0.95"]
    assert (board.name, board.metric_names()) == ("board-1", ("mae", "coverage_error@0.95"))
    assert (board.uncertainty.rng_seed, part_of(manifest, SeriesPart).uncertainty) == (7, None)


def test_an_empty_uncertainty_is_none_and_a_disabled_one_too() -> None:
    """lrdbench draws nothing then."""
    for text in ("uncertainty: {}", "uncertainty: {enabled: false, n_bootstrap: 500}"):
        assert declared_by(f"{SMALL}{text}".encode()).uncertainty is None


def test_the_command_writes_a_manifest(tmp_path: Path) -> None:
    """No server is needed; a run without records is refused, as a grid of nothing would be no grid."""
    path, output = MANIFESTS / "smoke_stress_test.yaml", tmp_path / "mine.yaml"
    code = run(["benchmark", "import-lrdbench", str(path), "--slug", "mine", "--title", "Mine", "-o", str(output)])
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "metrics.csv").write_text("scope,record_id\naggregate,\n")

    assert code == 0
    assert output.read_bytes() == manifest_from_lrdbench(path.read_bytes(), "mine", "Mine")
    assert run(["benchmark", "import-lrdbench", str(path), "--run", str(tmp_path)]) != 0


METRICS_OF_A_RUN = """scope,record_id,estimator_name,metric_name,value,stratum_json,metadata_json
per_series,r1,DFA,mae,0.1,"{""n"": 128}",{}
per_series,r2,DFA,mae,0.2,"{""n"": 128}",{}
aggregate,,DFA,mae,0.15,{},{}
"""
ESTIMATES_OF_A_RUN = "record_id,estimator_name,valid\nr1,DFA,True\nr2,DFA,False\n"


def test_a_run_is_read_alike_as_folder_and_as_archive(tmp_path: Path) -> None:
    """Its tables may be packed, in folders of their own, and beside files that are not read."""
    folder, archive = tmp_path / "mine", tmp_path / "mine.zip"
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "metrics.csv.gz").write_bytes(gzip.compress(METRICS_OF_A_RUN.encode()))
    (folder / "raw" / "estimates.csv").write_text(f"\ufeff{ESTIMATES_OF_A_RUN}", "utf-8")
    (folder / "environment.json").write_text("{}")
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, path.relative_to(tmp_path))
    rows = [RunRow("DFA", "mae", "r1"), RunRow("DFA", "mae", "r2"), RunRow("DFA", "instability", "r2")]

    for given in (folder, folder / "raw", archive):
        assert list(records_of_run(given).values()) == [["r1", "r2"]]
        assert rows_of_run(given) == rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("metrics.csv.gz", gzip.compress(METRICS_OF_A_RUN.encode())[:-9], "cannot be unpacked"),
        ("metrics.csv", METRICS_OF_A_RUN.replace("record_id", "series").encode(), "the column record_id is missing"),
        ("metrics.csv", METRICS_OF_A_RUN.replace("0.1,", "0.1,,").encode(), "the row has 8 cells"),
        ("metrics.csv", b"\xff\xfe", "UTF-16"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """As an upload is, with the file and what is wrong with it."""
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(f"mine/raw/{name}", content)
    with pytest.raises(ManifestRejected) as refused:
        records_of_run(archive)

    (problem,) = refused.value.problems
    assert problem.file == f"mine.zip/mine/raw/{name}"
    assert message in problem.message


def test_a_run_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an archive claims of itself does not count."""
    monkeypatch.setattr(from_lrdbench, "LIMITS", replace(LIMITS, max_unpacked_bytes=100))
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("mine/raw/metrics.csv", METRICS_OF_A_RUN)

    with pytest.raises(TooLarge):
        records_of_run(archive)


@pytest.mark.parametrize(
    ("old", "new", "column"),
    [
        ("ground_truth\nest", "guess\nest", "mode"),
        ("name: small_one", "name: '--'", "name"),
        ("metrics: [mae,", "metrics: [mae, mape,", "metrics.1"),
        ("metrics: [mae,", "metrics: [mae, {name: false_positive_lrd_rate, threshold: 0.9},", "metrics.1"),
        ("metrics: [mae,", "metrics: [mae, {name: balanced_accuracy, threshold: 0.3},", "metrics.1"),
        ("levels: [0.9, 0.95]", "levels: [95]", "metrics.1.levels.0"),
        ("{name: RS,", "{name: __all__,", "estimators.0"),
        ("component_metrics: [mae, coverage_error], weights: {mae: 0.5, coverage_error: 0.5}",
         "component_metrics: [], weights: {}", "leaderboards.0.component_metrics"),
        ("weights: {mae: 0.5,", "weights: {rmse: 0.5,", "leaderboards.0.weights"),
        ("[{mode: ground_truth,", "[{ranking_rule: borda,", "leaderboards.0.ranking_rule"),
        ("[{mode: ground_truth,", "[{tie_break_rule: runtime,", "leaderboards.0.tie_break_rule"),
        ("[{mode: ground_truth,", "[{mode: stress_test,", "leaderboards.0.mode"),
        ("seeds: {global_seed: 7}", "uncertainty: {n_bootstrap: 50}", "uncertainty.n_bootstrap"),
        ("seeds: {global_seed: 7}", "uncertainty: {metrics: [runtime]}", "uncertainty.metrics"),
        ("seeds: {global_seed: 7}", "seeds: {global_seed: x}", "seeds.global_seed"),
        ("seeds: {global_seed: 7}", "uncertainty: {seed: x}", "uncertainty.seed"),
        ("seeds: {global_seed: 7}", "contamination: {operators: [level_shift]}", "contamination.operators.0"),
    ],
)  # fmt: skip
def test_what_cannot_come_over_is_refused(old: str, new: str, column: str) -> None:
    """With the place in lrdbench's manifest."""
    assert old in SMALL
    assert [actual for actual, _ in problems_of(SMALL.replace(old, new, 1))] == [column]


@pytest.mark.parametrize("text", ["[]", "text", "{}", "{name: x, mode: ground_truth, estimators: 1, metrics: {}}"])
def test_another_document_is_refused(text: str) -> None:
    """It is no manifest of lrdbench."""
    assert problems_of(text)


def test_a_component_with_several_levels_and_no_tie_break_come_over() -> None:
    """lrdbench ranks the mean over the levels, and lets ties stand where the rule is none."""
    text = SMALL.replace("coverage_error]\n", "{name: coverage_error, levels: [0.9, 0.8]}]\n", 1)
    text = text.replace("[{mode: ground_truth,", "[{tie_break_rule: none, mode: ground_truth,", 1)
    (board,) = parse_manifest(manifest_from_lrdbench(text.encode())).leaderboards

    assert isinstance(board, WeightedRank)
    assert board.weights == {"mae": 0.5, "coverage_error@0.9@0.8": 0.5}
    assert board.tie_break == "none"
