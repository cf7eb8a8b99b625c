"""Files of harnesses that are broken, of another version, or not what they say: each is named with its place."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import EvidenceRejected, Problem
from tests.cases.harnesses import ITEMS, LM_EVAL, MTEB_RESULTS, SAMPLES, SUMMARY, read, rows_of, written

LOG = SAMPLES / "inspect" / "data_arc_sonnet.json"
EVAL = SAMPLES / "inspect" / "data_arc_sonnet.eval"
AGGREGATE = SAMPLES / "every_eval_ever" / "98ea850e-7019-4728-a558-8b1819ec47c2.json"
LM_SAMPLES = next(LM_EVAL.glob("samples_*.jsonl"))
RESULTS = next(LM_EVAL.glob("results_*.json"))
RUN = SAMPLES / "helm" / "narrative_qa-model=openai_gpt2"
OF_SAMPLES = ITEMS.format(column="exact_match,none", seed="null")


def problems_of(
    folder: Path, files: dict[str, bytes], level: str = "items"
) -> list[tuple[str | None, int | None, str]]:
    """Return file, row and message of what is wrong with files of one harness."""
    _, run = rows_of(written(folder, files), folder, level)
    return [(problem.file, problem.row, problem.message) for problem in run.findings.kept]


def refused(paths: list[Path], manifest: str, entrant: str | None = None) -> list[Problem]:
    """Return what is wrong with files that a benchmark must refuse."""
    with pytest.raises(EvidenceRejected) as refusal:
        read(paths, manifest, entrant)
    return list(refusal.value.problems)


def mteb_result() -> bytes:
    """Return one of MTEB's own result files."""
    with zipfile.ZipFile(MTEB_RESULTS) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/STS12.json"))
        return archive.read(name)


def in_folder(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Return a zip of files that lie in folders."""
    path = folder / "run.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return [path]


def mteb(folder: Path, content: bytes) -> list[Path]:
    """Return a result of MTEB in the folders of its model."""
    return in_folder(folder, {"org__model/1/STS12.json": content})


def helm(folder: Path, content: bytes) -> list[Path]:
    """Return a run of HELM with other statistics."""
    names = ("run_spec.json", "scenario.json")
    return in_folder(folder, {f"run/{n}": (RUN / n).read_bytes() for n in names} | {"run/stats.json": content})


def alone(name: str) -> Callable[[Path, bytes], list[Path]]:
    """Return what writes a file of this name."""
    return lambda folder, content: written(folder, {name: content})


READERS: dict[str, tuple[Callable[[Path, bytes], list[Path]], bytes]] = {
    "mteb": (mteb, mteb_result()),
    "helm": (helm, (RUN / "stats.json").read_bytes()),
    "every-eval-ever": (alone("a.json"), AGGREGATE.read_bytes()),
    "lm-eval": (alone(RESULTS.name), RESULTS.read_bytes()),
    "inspect": (alone("a.json"), LOG.read_bytes()),
}


@pytest.mark.parametrize(
    ("reader", "level"),
    [(reader, "summary") for reader in READERS]
    + [(reader, "items") for reader in ("every-eval-ever", "inspect", "inspect, packed")],
)
def test_a_file_that_breaks_off_is_named(tmp_path: Path, reader: str, level: str) -> None:
    """Two thirds of a document are none."""
    place, content = READERS.get(reader, (alone(EVAL.name), EVAL.read_bytes()))
    _, run = rows_of(place(tmp_path, content[: len(content) * 2 // 3]), tmp_path, level)

    assert run.findings.n_problems
    assert all(problem.file for problem in run.findings.kept)


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


def sample_with(**changed: Any) -> bytes:
    """Return the given samples, of which the fourth is another."""
    lines = LM_SAMPLES.read_text().splitlines()
    lines[3] = json.dumps({**json.loads(lines[3]), **changed})
    return "\n".join(lines).encode()


FIRST, *REST = LM_SAMPLES.read_text().splitlines()
NO_METRICS = {key: cell for key, cell in json.loads(FIRST).items() if key != "metrics"}
WRONG_SAMPLES: dict[str, tuple[bytes, int, str | None, str]] = {
    **{f"a score of {token}": (sample_with(exact_match=float(token)), 4, "exact_match,none", "")
       for token in ("nan", "inf", "-inf")},
    **{f"an item that is {item!r}": (sample_with(doc_id=item), 4, None, "")
       for item in ([1, [2]], {"a": 1}, None, True)},
    "a sample twice": (
        "\n".join([FIRST, *REST, FIRST]).encode(), 11, None,
        f"the episode is there already: row 1 of {LM_SAMPLES.name}"),
    "a sample without metrics": (
        "\n".join([json.dumps(NO_METRICS), *REST]).encode(), 1, None,
        "the sample has no metric: `metrics` names none that is there"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_SAMPLES)
def test_a_sample_that_cannot_be_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    """Python writes tokens that JSON has not, and no score is one; twice a sample would count twice."""
    content, row, column, message = WRONG_SAMPLES[name]
    actual = refused(written(tmp_path, {LM_SAMPLES.name: content}), OF_SAMPLES, "mine")

    assert {(problem.file, problem.row) for problem in actual} == {(LM_SAMPLES.name, row)}
    assert column in (None, actual[0].column)
    assert message in actual[0].message


@pytest.mark.parametrize("token", ["nan", "inf"])
@pytest.mark.parametrize(("reader", "column"), [("mteb", "main_score"), ("every-eval-ever", "score")])
def test_a_token_that_is_no_number_is_refused_with_file_and_row(
    tmp_path: Path, reader: str, column: str, token: str
) -> None:
    """Of results as of samples."""
    place, content = READERS[reader]
    document: dict[str, Any] = json.loads(content)
    _set_every(document, column, float(token))

    assert all(
        problem.file and problem.row
        for problem in refused(place(tmp_path, json.dumps(document).encode()), SUMMARY.format(column=column))
    )


def _set_every(part: Any, key: str, value: float) -> None:
    for at, each in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if at == key and isinstance(each, (int, float)):
            part[at] = value
        else:
            _set_every(each, key, value)


ODD_VERSIONS = {
    "a log of Inspect": (LOG.read_bytes().replace(b'"version": 2', b'"version": 9', 1), "version", "9"),
    "evaluations": (
        json.dumps({**json.loads(AGGREGATE.read_text()), "schema_version": "9.0"}).encode(), "schema_version", "9.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_VERSIONS)
def test_another_version_is_warned_about(tmp_path: Path, name: str) -> None:
    """Its layout, or a key, may mean something else."""
    content, column, value = ODD_VERSIONS[name]
    _, run = rows_of(written(tmp_path, {"a.json": content}), tmp_path, "items" if "log" in name else "summary")

    assert [(w.column, w.value) for w in run.warnings] == [(column, value)]


def test_a_run_of_helm_without_its_specification_is_refused(tmp_path: Path) -> None:
    """Nothing else says whose it is."""
    actual = problems_of(tmp_path, {"stats.json": (RUN / "stats.json").read_bytes()}, "summary")

    ((_, _, message),) = actual
    assert message == "run_spec.json of this run is not beside it, which says whose it is"


def test_a_metric_that_no_file_has_is_named_beside_those_that_there_are() -> None:
    """A manifest that asks for another one learns which there are."""
    actual = refused([LOG], ITEMS.format(column="choise", seed="null"))

    assert any("choice" in problem.message for problem in actual)


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


def test_results_of_mteb_are_of_their_own_model(tmp_path: Path) -> None:
    """A folder has all models, and none is mixed up; two revisions of one are one entrant, of which one can count."""
    content, manifest = mteb_result(), SUMMARY.format(column="main_score")
    several = in_folder(tmp_path, {f"org__{name}/1/STS12.json": content for name in ("a", "b")})
    assert read(several, manifest).scores.entrant.words == ("org/a", "org/b")

    twice = in_folder(tmp_path, {f"org__model/{at}/STS12.json": content for at in (1, 2)})
    assert "run.zip/org__model/" in str(refused(twice, manifest)[0])


def test_what_is_wrong_in_one_of_many_files_is_named_with_its_own_file(tmp_path: Path) -> None:
    """Rows of many files are read in one table: a score that is none, and a metric that every other file has."""
    good, bad, german = mteb_result(), json.loads(mteb_result()), json.loads(mteb_result())
    _set_every(bad, "main_score", float("nan"))
    for part in (part for parts in german["scores"].values() for part in parts):
        part.update(hf_subset="de", languages=["deu-Latn"])
    files = {f"org__m{at}/1/STS12.json": good for at in range(5)} | {"org__m3/1/STS12.json": json.dumps(bad).encode()}
    wrong = refused(in_folder(tmp_path, files), SUMMARY.format(column="main_score"))
    others = {"org__a/1/STS12.json": good, "org__b/1/T.json": json.dumps(german).encode()}
    lacking = refused(in_folder(tmp_path, others), SUMMARY.format(column="main_score@eng"))

    assert {problem.file for problem in wrong} == {"run.zip/org__m3/1/STS12.json"}
    assert [(problem.file, problem.column) for problem in lacking] == [("run.zip/org__b/1/T.json", "score")]


def test_a_score_of_mteb_that_is_null_in_one_subset_is_no_score(tmp_path: Path) -> None:
    """A mean over the others would be that of another task."""
    with zipfile.ZipFile(MTEB_RESULTS) as given:
        name = next(each for each in given.namelist() if each.endswith("STS22.v2.json"))
        document = json.loads(given.read(name))
    document["scores"]["test"][0]["main_score"] = None
    rows, run = rows_of(written(tmp_path, {"STS22.v2.json": json.dumps(document).encode()}), tmp_path, "summary")

    assert not any("main_score" in row.scores for row in rows)
    assert run.findings.n_problems + len(rows)


def test_tasks_of_one_run_may_have_metrics_of_their_own(tmp_path: Path) -> None:
    """hellaswag has an accuracy and math an exact match: what a task does not have is absent there, and no fault."""
    document = json.loads(RESULTS.read_text())
    document["results"]["hellaswag"] = {"alias": "hellaswag", "acc,none": 0.5}
    two_metrics = SUMMARY.format(column="exact_match,none").replace(
        "tasks:", '  acc: {direction: maximize, from: "acc,none"}\ntasks:'
    )
    scores = read(written(tmp_path, {RESULTS.name: json.dumps(document).encode()}), two_metrics).scores
    of_hellaswag = [task == "hellaswag" for task in scores.task.to_list()]

    assert (~np.isnan(scores.value("acc"))).tolist() == of_hellaswag
    assert np.isnan(scores.value("score")).tolist() == of_hellaswag


@pytest.mark.parametrize("code", [0xD800, 0])
def test_half_of_a_surrogate_pair_or_a_zero_is_refused_with_its_row_and_column(tmp_path: Path, code: int) -> None:
    """JSON can write one, and no table can hold it."""
    document = json.loads(AGGREGATE.read_text())
    document["evaluation_results"][0]["evaluation_name"] = "odd " + chr(code)
    (path,) = written(tmp_path, {AGGREGATE.name: json.dumps(document).encode()})
    actual = refused([path], SUMMARY.format(column="score"))

    assert any("surrogate" in each.message and each.column == "task" for each in actual)
    assert all(each.file == path.name for each in actual if each.file)
