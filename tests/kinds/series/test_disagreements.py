"""What a run says of itself that is not what the benchmark says: said to the submitter, not silent."""

from pathlib import Path

import pytest

from app.errors import Problem
from app.files.findings import Findings
from app.files.uploads import ReceivedFile
from app.kinds.parse import parse_manifest
from app.kinds.series.estimates import read_estimator_table
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from tests.cases.evidence_tables import read
from tests.cases.series_runs import GIVEN, LIMITS, MANIFESTS, given_manifest
from tests.cases.zips import replaced

RUN = "public_small_canonical_ground_truth"
MANIFEST, METADATA = f"{RUN}/manifest/benchmark_manifest.yaml", f"{RUN}/tables/estimator_metadata.csv"


def warnings(folder: Path, **changes: tuple[str, str]) -> list[Problem]:
    """Return the warnings of a given run in whose files some text is another."""
    content = replaced(GIVEN[RUN], {MANIFEST: changes.get("manifest"), METADATA: changes.get("metadata")})
    return list(read(folder, {"run.zip": content}, given_manifest(RUN), limits=LIMITS).warnings)


def test_an_honest_run_is_told_nothing(tmp_path: Path) -> None:
    """Nothing about it differs."""
    assert warnings(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "column", "words"),
    [
        ("\nname: public_small", "\nname: another_small", "name", "another suite"),
        ("\n  seed: ", "\n  seed: 9", "seeds.global_seed", "another seed"),
    ],
)
def test_another_suite_or_seed_is_said(tmp_path: Path, old: str, new: str, column: str, words: str) -> None:
    """With the place in the run's manifest and what it says."""
    (warning,) = [w for w in warnings(tmp_path, manifest=(old, new)) if w.column == column]

    assert words in warning.message


def test_another_estimand_is_said(tmp_path: Path) -> None:
    """An estimator of what no truth of the run is of has no errors."""
    actual = warnings(tmp_path, metadata=("hurst_scaling_proxy", "memory_of_elephants"))
    columns = [w.column for w in actual if "the run has no truth of what these estimate" in w.message]

    assert columns == ["target_estimand"]


def test_an_estimator_without_metadata_is_said(tmp_path: Path) -> None:
    """Neither file of the run describes it, while both describe others."""
    actual = warnings(tmp_path, manifest=("name: RS\n", "name: RX\n"), metadata=("\nRS,", "\nRX,"))

    assert [w.message for w in actual if "estimator_metadata.csv" in w.message] == [
        "neither the run's manifest nor estimator_metadata.csv says what these estimate; where a record has several "
        "truths, what depends on them is empty: RS"
    ]


def test_a_run_that_describes_no_estimator_is_told_what_it_loses(tmp_path: Path) -> None:
    """Its records have several truths, and nothing says which of them an estimate is of."""
    content = replaced(GIVEN[RUN], {}, without=[MANIFEST, METADATA])
    actual = read(tmp_path, {"run.zip": content}, given_manifest(RUN), limits=LIMITS).warnings

    assert any("what depends on them is empty" in w.message for w in actual)


def test_rows_of_a_level_that_the_benchmark_lacks_are_said(tmp_path: Path) -> None:
    """Coverage at 0.95 is none at 0.9; the metrics that nobody asked for are named with their levels."""
    given = manifest_from_lrdbench((MANIFESTS / f"{RUN}.yaml").read_bytes())
    declared = parse_manifest(given.replace(b"@0.95", b"@0.9"))
    actual = read(tmp_path, {"run.zip": GIVEN[RUN].read_bytes()}, declared, limits=LIMITS).warnings

    assert [w.message for w in actual if "does not use" in w.message] == [
        "metrics that this benchmark does not use were ignored: ci_width@0.95, coverage@0.95"
    ]


METADATA_HEADER = "estimator_name,family,target_estimand,supports_ci,assumptions_json,params_json,version\n"


@pytest.mark.parametrize(
    ("cells", "column", "value", "words"),
    [
        ("Hurst,hurst,yes,{},{},1", "supports_ci", "yes", "neither True nor False"),
        ("Hurst,hurst,True,{},{3},1", "params_json", "{3}", "JSON"),
        ("Hurst,hurst,True,nonsense,{},1", "assumptions_json", "nonsense", "JSON"),
        ("Hu\trst,hurst,True,{},{},1", "family", "Hu\trst", "text is printable"),
    ],
)
def test_a_wrong_cell_about_an_estimator_is_refused_where_it_stands(
    tmp_path: Path, cells: str, column: str, value: str, words: str
) -> None:
    """With file, row and value; the other estimators and cells are read."""
    path = tmp_path / "estimator_metadata.csv"
    path.write_text(f"{METADATA_HEADER}RS,rescaled range,hurst,False,{{}},{{}},2\nGPH,{cells}\n", "utf-8")
    findings = Findings()
    file = ReceivedFile("run/tables/estimator_metadata.csv", path, ".csv", 0)
    described = read_estimator_table(file, findings, [], 100)

    (problem,) = findings.kept
    assert (problem.file, problem.row, problem.column) == ("run/tables/estimator_metadata.csv", 3, column)
    assert words in problem.message
    assert value in str(problem.value) or "\t" in value
    assert described["RS"]["family"] == "rescaled range"
    assert set(described) == {"RS", "GPH"}
