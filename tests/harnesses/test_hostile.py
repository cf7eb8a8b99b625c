"""Files of harnesses that are broken, of another version, or not what they say: each is named with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.errors import EvidenceRejected
from tests.cases.harnesses import ITEMS, LM_EVAL, SAMPLES, SUMMARY, read, rows_of, written

LOG = SAMPLES / "inspect" / "data_arc_sonnet.json"
EVAL = SAMPLES / "inspect" / "data_arc_sonnet.eval"
AGGREGATE = SAMPLES / "every_eval_ever" / "98ea850e-7019-4728-a558-8b1819ec47c2.json"
LM_SAMPLES = next(LM_EVAL.glob("samples_*.jsonl"))
RUN = SAMPLES / "helm" / "narrative_qa-model=openai_gpt2"


def problems_of(
    folder: Path, files: dict[str, bytes], level: str = "items"
) -> list[tuple[str | None, int | None, str]]:
    """Return file, row and message of what is wrong with files of one harness."""
    _, run = rows_of(written(folder, files), folder, level)
    return [(problem.file, problem.row, problem.message) for problem in run.findings.kept]


@pytest.mark.parametrize("level", ["items", "summary"])
@pytest.mark.parametrize("path", [LOG, EVAL, AGGREGATE], ids=["log.json", "log.eval", "aggregate"])
def test_a_file_that_breaks_off_is_named(tmp_path: Path, path: Path, level: str) -> None:
    """Half a file is no file."""
    content = path.read_bytes()
    actual = problems_of(tmp_path, {path.name: content[: len(content) * 2 // 3]}, level)

    assert {file for file, _, _ in actual} == {path.name}


def test_a_damaged_sample_of_a_log_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    """A byte within one member is another than was written."""
    content = bytearray(EVAL.read_bytes())
    at = content.index(b"samples/2_epoch_1.json") + 200
    content[at] ^= 0xFF
    path = tmp_path / EVAL.name
    path.write_bytes(bytes(content))
    rows, run = rows_of([path], tmp_path)

    assert len(rows) == 4
    assert [(problem.row, "2_epoch_1" in problem.message) for problem in run.findings.kept] == [(2, True)]


def test_a_zip_that_is_no_log_is_refused(tmp_path: Path) -> None:
    """An ending is no promise."""
    path = tmp_path / "x.eval"
    path.write_bytes(b"PK\x05\x06" + bytes(18))
    _, run = rows_of([path], tmp_path)

    assert "no log of Inspect" in run.findings.kept[0].message


def test_a_log_of_another_version_is_warned_about(tmp_path: Path) -> None:
    """Its layout may mean something else."""
    _, run = rows_of(
        written(tmp_path, {"a.json": LOG.read_bytes().replace(b'"version": 2', b'"version": 9', 1)}), tmp_path
    )

    assert [(w.column, w.value) for w in run.warnings] == [("version", "9")]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_a_token_that_is_no_number_is_refused_with_its_place(tmp_path: Path, token: str) -> None:
    """Python writes them, JSON has none, and no score is one."""
    lines = LM_SAMPLES.read_text().splitlines()
    sample = json.loads(lines[3])
    sample["exact_match"] = float(token.replace("Infinity", "inf"))
    lines[3] = json.dumps(sample)
    paths = written(tmp_path, {LM_SAMPLES.name: "\n".join(lines).encode()})
    with pytest.raises(EvidenceRejected) as refusal:
        read(paths, ITEMS.format(column="exact_match,none", seed="null"), "m")

    assert [(p.row, p.column) for p in refusal.value.problems] == [(4, "exact_match,none")]


def test_a_sample_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    """It would count twice."""
    lines = LM_SAMPLES.read_text().splitlines()
    paths = written(tmp_path, {LM_SAMPLES.name: "\n".join([*lines, lines[0]]).encode()})
    with pytest.raises(EvidenceRejected) as refusal:
        read(paths, ITEMS.format(column="exact_match,none", seed="null"), "m")

    assert [(p.row, p.message) for p in refusal.value.problems] == [
        (11, f"the episode is there already: row 1 of {LM_SAMPLES.name}")
    ]


def test_a_sample_without_metrics_is_refused_with_its_place(tmp_path: Path) -> None:
    """Nothing of it could be scored."""
    first, *rest = (json.loads(line) for line in LM_SAMPLES.read_text().splitlines())
    del first["metrics"]
    content = "\n".join(json.dumps(each) for each in (first, *rest)).encode()
    actual = problems_of(tmp_path, {LM_SAMPLES.name: content})

    assert [(row, message) for _, row, message in actual] == [
        (1, "the sample has no metric: `metrics` names none that is there")
    ]


def test_a_run_of_helm_without_its_specification_is_refused(tmp_path: Path) -> None:
    """Nothing else says whose it is."""
    actual = problems_of(tmp_path, {"stats.json": (RUN / "stats.json").read_bytes()}, "summary")

    ((_, _, message),) = actual
    assert message == "run_spec.json of this run is not beside it, which says whose it is"


def test_a_metric_that_no_file_has_is_named_beside_those_that_there_are() -> None:
    """A manifest that asks for another one learns which there are."""
    with pytest.raises(EvidenceRejected) as refusal:
        read([LOG], ITEMS.format(column="choise", seed="null"))

    assert any("choice" in problem.message for problem in refusal.value.problems)


def test_evaluations_of_another_schema_are_warned_about(tmp_path: Path) -> None:
    """A later version may mean something else by the same keys."""
    document: dict[str, Any] = json.loads(AGGREGATE.read_text())
    paths = written(tmp_path, {"a.json": json.dumps({**document, "schema_version": "9.0"}).encode()})
    warnings = read(paths, SUMMARY.format(column="score")).warnings

    assert [(w.column, w.value) for w in warnings] == [("schema_version", "9.0")]


@pytest.mark.parametrize("level", ["items", "summary"])
def test_statistics_of_helm_that_break_off_are_named_at_both_levels(tmp_path: Path, level: str) -> None:
    """Items do not need them, but a run of which a file breaks off was not copied whole."""
    files = {name: (RUN / name).read_bytes() for name in ("run_spec.json", "stats.json", "per_instance_stats.json")}
    whole = problems_of(tmp_path, files, level)
    actual = problems_of(tmp_path, files | {"stats.json": files["stats.json"][:-300]}, level)

    assert whole == []
    assert {file for file, _, _ in actual} == {"stats.json"}


def test_what_every_eval_ever_has_at_the_other_level_only_is_named(tmp_path: Path) -> None:
    """The given folder: six evaluations without instances, and one with; and instances without their aggregate."""
    given = sorted((SAMPLES / "every_eval_ever").rglob("*.json*"))
    ((row,), run) = rows_of(given, tmp_path)
    alone = [path for path in given if path.suffix == ".jsonl" or path == AGGREGATE]
    _, summary = rows_of(alone, tmp_path, "summary")

    (lost,) = [warning for warning in run.warnings if warning.column == "evaluation_name"]
    assert row.task == "demo-source.demo_bench"
    assert (lost.file, lost.value) == (AGGREGATE.name, "IFEval, BBH, MATH Level 5, GPQA, MUSR, MMLU-PRO")
    assert lost.message.startswith("6 of 6 evaluations have no instances")
    (warning,) = summary.warnings
    assert (warning.file, "aggregate" in warning.message) == (alone[-1].name, True)


@pytest.mark.parametrize("level", ["items", "summary"])
def test_a_list_of_helm_that_is_not_utf_8_is_named_with_its_byte(tmp_path: Path, level: str) -> None:
    """A file that a program of another encoding wrote over."""
    name = {"items": "per_instance_stats.json", "summary": "stats.json"}[level]
    content = (RUN / name).read_bytes().replace(b"test", b"t\xe9st", 1)
    spec = (RUN / "run_spec.json").read_bytes()
    ((file, _, message),) = problems_of(tmp_path, {"run_spec.json": spec, name: content}, level)

    assert file == name
    assert "UTF-8" in message


@pytest.mark.parametrize("item", [[1, [2]], {"a": 1}, None, True])
def test_a_sample_whose_item_is_no_name_is_refused_with_its_row(tmp_path: Path, item: Any) -> None:
    """A list, an object, nothing or a flag in place of `doc_id`."""
    lines = LM_SAMPLES.read_text().splitlines()
    lines[3] = json.dumps({**json.loads(lines[3]), "doc_id": item})
    (path,) = written(tmp_path, {LM_SAMPLES.name: "\n".join(lines).encode()})
    with pytest.raises(EvidenceRejected) as refused:
        read([path], ITEMS.format(column="exact_match,none", seed="null"), entrant="mine")

    assert {(problem.file, problem.row) for problem in refused.value.problems} == {(path.name, 4)}
