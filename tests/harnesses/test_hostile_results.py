"""Result files that are cut off, of another version, mixed, doubled, without a metric, or with tokens that are no
numbers: each is refused or told, with its file and place. For every reader whose files state results of tasks.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import EvidenceRejected
from tests.cases.harnesses import LM_EVAL, MTEB_RESULTS, SAMPLES, SUMMARY, read, rows_of, written

HELM_RUN = SAMPLES / "helm" / "narrative_qa-model=openai_gpt2"
AGGREGATE = SAMPLES / "every_eval_ever" / "98ea850e-7019-4728-a558-8b1819ec47c2.json"
LOG = SAMPLES / "inspect" / "data_arc_sonnet.json"
RESULTS = next(LM_EVAL.glob("results_*.json"))


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
    return in_folder(folder, {f"run/{n}": (HELM_RUN / n).read_bytes() for n in names} | {"run/stats.json": content})


def alone(name: str) -> Callable[[Path, bytes], list[Path]]:
    """Return what writes a file of this name."""
    return lambda folder, content: written(folder, {name: content})


READERS: dict[str, tuple[Callable[[Path, bytes], list[Path]], bytes]] = {
    "mteb": (mteb, mteb_result()),
    "helm": (helm, (HELM_RUN / "stats.json").read_bytes()),
    "every-eval-ever": (alone("a.json"), AGGREGATE.read_bytes()),
    "lm-eval": (alone(RESULTS.name), RESULTS.read_bytes()),
    "inspect": (alone("a.json"), LOG.read_bytes()),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_breaks_off_is_named(tmp_path: Path, reader: str) -> None:
    """Two thirds of a document are none."""
    place, content = READERS[reader]
    _, run = rows_of(place(tmp_path, content[: len(content) * 2 // 3]), tmp_path, "summary")

    assert run.findings.n_problems
    assert all(problem.file for problem in run.findings.kept)


@pytest.mark.parametrize("token", ["NaN", "Infinity"])
@pytest.mark.parametrize(
    ("reader", "column", "before"),
    [("mteb", "main_score", "main_score"), ("every-eval-ever", "score", "score")],
)
def test_a_token_that_is_no_number_is_refused_with_file_and_row(
    tmp_path: Path, reader: str, column: str, before: str, token: str
) -> None:
    """Python writes them, JSON has none, and no score is one."""
    place, content = READERS[reader]
    document: dict[str, Any] = json.loads(content)
    _set_every(document, before, float(token.replace("Infinity", "inf")))
    with pytest.raises(EvidenceRejected) as refused:
        read(place(tmp_path, json.dumps(document).encode()), SUMMARY.format(column=column))

    assert all(problem.file and problem.row for problem in refused.value.problems)


def _set_every(part: Any, key: str, value: float) -> None:
    for at, each in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if at == key and isinstance(each, (int, float)):
            part[at] = value
        else:
            _set_every(each, key, value)


def test_a_result_of_mteb_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    """Two revisions of one model are one entrant, and only one of them can count."""
    content = mteb_result()
    paths = in_folder(tmp_path, {"org__model/1/STS12.json": content, "org__model/2/STS12.json": content})
    with pytest.raises(EvidenceRejected) as refused:
        read(paths, SUMMARY.format(column="main_score"))

    assert "run.zip/org__model/" in str(refused.value.problems[0])


def test_results_of_several_models_are_entrants_of_their_own(tmp_path: Path) -> None:
    """A folder of MTEB's results has all models; nothing is mixed up."""
    content = mteb_result()
    paths = in_folder(tmp_path, {f"org__{name}/1/STS12.json": content for name in ("a", "b")})

    assert read(paths, SUMMARY.format(column="main_score")).scores.entrant.words == ("org/a", "org/b")


def test_a_wrong_score_among_many_files_is_named_with_its_own_file(tmp_path: Path) -> None:
    """Rows of many files are read in one table; the place is that of the one that is wrong."""
    good, bad = mteb_result(), json.loads(mteb_result())
    _set_every(bad, "main_score", float("nan"))
    files = {f"org__m{at}/1/STS12.json": good for at in range(5)} | {"org__m3/1/STS12.json": json.dumps(bad).encode()}
    with pytest.raises(EvidenceRejected) as refused:
        read(in_folder(tmp_path, files), SUMMARY.format(column="main_score"))

    assert {problem.file for problem in refused.value.problems} == {"run.zip/org__m3/1/STS12.json"}


def test_a_file_without_the_metric_among_others_is_named(tmp_path: Path) -> None:
    """Every other file has it."""
    paths = in_folder(tmp_path, {"org__a/1/STS12.json": mteb_result(), "org__b/1/T.json": _german(mteb_result())})
    with pytest.raises(EvidenceRejected) as refused:
        read(paths, SUMMARY.format(column="main_score@eng"))

    assert [(problem.file, problem.column) for problem in refused.value.problems] == [
        ("run.zip/org__b/1/T.json", "score")
    ]


def _german(content: bytes) -> bytes:
    document = json.loads(content)
    for parts in document["scores"].values():
        for part in parts:
            part.update(hf_subset="de", languages=["deu-Latn"])
    return json.dumps(document).encode()


def test_a_score_of_mteb_that_is_null_in_one_subset_is_no_score(tmp_path: Path) -> None:
    """A mean over the others would be that of another task."""
    with zipfile.ZipFile(MTEB_RESULTS) as given:
        name = next(each for each in given.namelist() if each.endswith("STS22.v2.json"))
        document = json.loads(given.read(name))
    document["scores"]["test"][0]["main_score"] = None
    rows, run = rows_of(written(tmp_path, {"STS22.v2.json": json.dumps(document).encode()}), tmp_path, "summary")

    assert not any("main_score" in row.scores for row in rows)
    assert run.findings.n_problems + len(rows)


TWO_METRICS = SUMMARY.format(column="exact_match,none").replace(
    "tasks:", '  acc: {direction: maximize, from: "acc,none"}\ntasks:'
)


def with_task(metrics: dict[str, float]) -> bytes:
    """Return the results of lm-eval with one more task, which has metrics of its own."""
    document = json.loads(RESULTS.read_text())
    document["results"]["hellaswag"] = {"alias": "hellaswag", **metrics}
    return json.dumps(document).encode()


def test_tasks_of_one_run_may_have_metrics_of_their_own(tmp_path: Path) -> None:
    """hellaswag has an accuracy and math an exact match: what a task does not have is absent there, and no fault."""
    scores = read(written(tmp_path, {RESULTS.name: with_task({"acc,none": 0.5})}), TWO_METRICS).scores

    of_hellaswag = [task == "hellaswag" for task in scores.task.to_list()]
    assert (~np.isnan(scores.value("acc"))).tolist() == of_hellaswag
    assert np.isnan(scores.value("score")).tolist() == of_hellaswag


def test_half_of_a_surrogate_pair_is_refused_with_its_row_and_column(tmp_path: Path) -> None:
    """JSON can write one, and no table can hold it."""
    document = json.loads(AGGREGATE.read_text())
    document["evaluation_results"][0]["evaluation_name"] = "odd " + chr(0xD800)
    (path,) = written(tmp_path, {AGGREGATE.name: json.dumps(document).encode()})
    with pytest.raises(EvidenceRejected) as refused:
        read([path], SUMMARY.format(column="score"))

    assert any("surrogate" in each.message and each.column == "task" for each in refused.value.problems)
    assert all(each.file == path.name for each in refused.value.problems if each.file)
