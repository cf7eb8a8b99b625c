"""A manifest out of results: what is guessed, what is asked, and what is left to be answered."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import EvidenceRejected
from app.kinds.parse import parse_manifest
from app.receiving.drafting import Roles, Wishes, draft_manifest, metric_name, read_sheet, tokens
from tests.cases.drafts import LIMITS, MTEB, draft_of, latency_table, nobody, sent
from tests.cases.evidence_tables import read
from tests.cases.harnesses import LM_EVAL, SAMPLES, zipped


def test_the_mteb_table_becomes_a_summary_with_its_41_tasks(tmp_path: Path) -> None:
    """Models, tasks, task types, revisions and the score are told apart without a question."""
    draft = draft_manifest(read_sheet(sent([MTEB]), tmp_path, LIMITS), "eng_v2", Wishes(), nobody)
    manifest = parse_manifest(draft.text.encode())

    assert draft.n_missing == 0
    assert (draft.roles.entrant, draft.roles.task, draft.roles.metrics) == ("model", "task", ("main_score",))
    assert len(manifest.task_ids() or ()) == 41
    assert [board.method for board in manifest.leaderboards] == ["mean", "group_mean", "borda"]
    assert (manifest.metrics["main_score"].direction, manifest.metrics["main_score"].min) == ("maximize", -1)


def test_a_latency_table_is_minimized_from_zero_in_milliseconds(tmp_path: Path) -> None:
    """The name says the direction and the unit; runs are the seeds and queries the items."""
    draft = draft_of(latency_table(), tmp_path)
    manifest = parse_manifest(draft.text.encode())
    metric = manifest.metrics["latency_ms"]

    assert (metric.direction, metric.min, metric.max, metric.unit) == ("minimize", 0, None, "ms")
    assert (draft.roles.entrant, draft.roles.seed, draft.roles.item) == ("system", "run", ("query",))
    assert manifest.grid is not None
    assert (manifest.grid.seeds, len(manifest.grid.items or [])) == ([0, 1, 2, 3, 4], 8)  # type: ignore[arg-type]


def test_a_direction_that_no_name_says_is_left_to_be_answered(tmp_path: Path) -> None:
    """Numbers cannot say which way is better: a guess would turn a board upside down."""
    draft = draft_of("model,task,min_zeta\na,t,1.5\nb,t,2.5\n", tmp_path)

    assert draft.n_missing == 1
    assert "    direction: TODO  # maximize or minimize?" in draft.text.splitlines()
    assert "unit:" not in draft.text


def test_a_question_that_is_answered_leaves_nothing_missing(tmp_path: Path) -> None:
    """In a terminal whoever drafts is asked, and the answer stands in the manifest."""
    draft = draft_of("model,task,zeta\na,t,1.5\nb,t,2.5\n", tmp_path, ask=lambda question, answers: "minimize")

    assert draft.n_missing == 0
    assert parse_manifest(draft.text.encode()).metrics["zeta"].direction == "minimize"


def test_columns_and_directions_can_be_given(tmp_path: Path) -> None:
    """What an option says is not guessed."""
    wishes = Wishes(roles=Roles(entrant="who", task="what"), directions={"zeta": "maximize"})
    draft = draft_of("who,what,zeta\na,t,1.5\nb,t,2.5\n", tmp_path, wishes)
    manifest = parse_manifest(draft.text.encode())

    assert draft.n_missing == 0
    assert manifest.metrics["zeta"].direction == "maximize"


def test_a_column_that_the_file_lacks_is_named_beside_those_that_it_has(tmp_path: Path) -> None:
    """An option that names no column is an error, not a guess."""
    with pytest.raises(EvidenceRejected) as refusal:
        draft_of("model,task,acc\na,t,1\n", tmp_path, Wishes(roles=Roles(entrant="modell")))

    assert [(p.column, p.message) for p in refusal.value.problems] == [
        ("modell", "no column of this name; the file has model, task, acc")
    ]


def test_rows_that_nothing_tells_apart_are_asked_about(tmp_path: Path) -> None:
    """Two rows of one entrant and task are no evidence until a column says what differs."""
    draft = draft_of("model,task,acc\na,t,0.5\na,t,0.7\n", tmp_path)

    assert "  item: [TODO]  # 1 rows repeat: which column distinguishes them?" in draft.text.splitlines()


def test_a_table_in_the_long_form_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """A row for each metric would be read as one metric of mixed meaning."""
    with pytest.raises(EvidenceRejected, match="long form") as refusal:
        draft_of("model,task,metric,value\na,t,acc,0.5\na,t,f1,0.7\n", tmp_path)

    assert "pivot" in refusal.value.problems[0].message


def test_items_without_seeds_rest_their_intervals_on_items(tmp_path: Path) -> None:
    """Questions of one model are units of their own."""
    rows = [f"{m},{t},{i},{i % 2}" for m in "ab" for t in ("x", "y") for i in range(4)]
    draft = draft_of("\n".join(["model,task,doc_id,acc", *rows]) + "\n", tmp_path)

    assert "  seed: null  # no seeds: intervals resample items" in draft.text.splitlines()
    manifest = parse_manifest(draft.text.encode())
    assert manifest.metrics["acc"].max == 1
    assert manifest.grid is not None
    assert manifest.grid.seeds == [0]


def test_conditions_that_take_several_lines_are_indented(tmp_path: Path) -> None:
    """Under their key, as a person would write them."""
    conditions = [f"friction-and-mass-{at:02}" for at in range(12)]
    rows = [f"{m},x,{c},{s},{s % 2}" for m in "ab" for c in conditions for s in range(5)]
    draft = draft_of("\n".join(["policy,task,condition,seed,success", *rows]) + "\n", tmp_path)
    lines = draft.text.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("  conditions: ["))

    assert lines[at + 1].startswith(f"     {conditions[5][:8]}")
    grid = parse_manifest(draft.text.encode()).grid
    assert grid is not None
    assert grid.conditions == conditions


@pytest.mark.parametrize(
    "name", ["a: b", "yes", "0", "x, y", "[z]", "#1", "通义千问", 'q"uote', "EleutherAI/pythia-160m"]
)
def test_a_task_of_any_name_survives_the_writing(tmp_path: Path, name: str) -> None:
    """Names are quoted where YAML would read them as something else."""
    quoted = '"' + name.replace('"', '""') + '"'
    draft = draft_of(f"model,task,acc\na,{quoted},0.5\nb,{quoted},0.7\n", tmp_path)

    assert parse_manifest(draft.text.encode()).task_ids() == (name,)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("exact_match,strict-match", "exact_match.strict-match"),
        ("acc,none", "acc"),
        ("95th (ms)", "m95th_ms"),
        ("准确率", "metric"),
    ],
)
def test_a_column_of_any_name_becomes_a_metric_that_may_be_named(column: str, name: str) -> None:
    """Metrics have narrower names than columns; `from` keeps the column's own."""
    assert metric_name(column) == name


def test_a_column_of_true_and_false_is_a_metric_from_zero_to_one(tmp_path: Path) -> None:
    """However they are written; the board is of the share that is true."""
    draft = draft_of("model,task,passed\na,t,true\na,u,False\nb,t,TRUE\nb,u,false\n", tmp_path)
    (metric,) = draft.metrics

    assert (draft.roles.metrics, metric.low, metric.high) == (("passed",), 0.0, 1.0)
    assert metric.why == "every value is 0 or 1"


@pytest.mark.parametrize(
    ("column", "most", "high"),
    [
        ("error_percent", 1.5, 100.0),
        ("error_percent", 100.0, 100.0),
        ("error_percent", 100.5, None),
        ("error_percent", 1.0, None),
        ("accuracy", 1.0, 1.0),
        ("accuracy", 1.5, 100.0),
        ("error", 1.5, None),
    ],
)
def test_a_percentage_is_told_by_its_name_and_by_values_beyond_one(
    tmp_path: Path, column: str, most: float, high: float | None
) -> None:
    """Up to 100; an error of at most 1 by that name may be either, so that its end is left to who drafts."""
    draft = draft_of(f"model,task,{column}\na,t,0.25\nb,t,{most}\n", tmp_path)

    assert [(metric.low, metric.high) for metric in draft.metrics] == [(0.0, high)]


def test_words_are_found_in_camel_case() -> None:
    """Names of columns come in every style."""
    assert tokens("p95LatencyMs") == ["p95", "latency", "ms"]


def test_a_draft_names_the_schema_of_the_server_that_is_used(tmp_path: Path) -> None:
    """An editor completes the file from there."""
    wishes = Wishes(schema="https://boards.example/schemas/manifest.json")
    first = draft_of(latency_table(), tmp_path, wishes).text.splitlines()[0]

    assert first == "# yaml-language-server: $schema=https://boards.example/schemas/manifest.json"


def test_a_draft_is_of_one_harness_and_says_what_it_left_out(tmp_path: Path) -> None:
    """A folder in which two harnesses wrote, and somebody a table."""
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    files = [*sorted(LM_EVAL.glob("*_*.json*")), SAMPLES / "inspect" / "data_arc_qwen.json", tmp_path / "notes.csv"]
    sheet = read_sheet(sent(files), tmp_path, LIMITS)

    assert sheet.about == "Results of lm-eval."
    assert sheet.left_out == ("1 of Inspect", "1 of no harness, such as notes.csv")


def test_a_draft_of_many_files_counts_them(tmp_path: Path) -> None:
    """Three names are read, three hundred are not."""
    sheet = read_sheet(sent([zipped(SAMPLES / "helm", tmp_path / "helm.zip")]), tmp_path, LIMITS)
    (line,) = [line for line in draft_manifest(sheet, "helm", Wishes(), nobody).text.splitlines() if "Drafted" in line]

    assert line == "# Drafted by plumbline from 25 rows of 15 files."


def test_a_board_is_over_the_tasks_that_have_its_metric(tmp_path: Path) -> None:
    """Over the others nobody could be ranked."""
    draft = draft_of("model,task,acc,f1\na,s,0.5,\na,t,,0.5\nb,s,0.7,\nb,t,,0.6\n", tmp_path)

    assert [board.tasks for board in parse_manifest(draft.text.encode()).leaderboards] == [["s"], ["t"]]


def test_a_table_without_tasks_is_one_task(tmp_path: Path) -> None:
    """A score for each model is a benchmark, and takes the table that it was drafted from."""
    table = "model,accuracy\na,0.5\nb,0.7\n"
    draft = draft_of(table, tmp_path)
    scores = read(tmp_path, {"r.csv": table}, parse_manifest(draft.text.encode())).scores

    assert draft.n_missing == 0
    assert scores.task.to_list() == ["all", "all"]
    assert scores.value("accuracy").tolist() == [0.5, 0.7]


@pytest.mark.parametrize("cells", [("", ""), ("inf", "nan"), ("high", "low")])
def test_a_metric_that_holds_no_number_is_drafted_if_it_is_asked_for(tmp_path: Path, cells: tuple[str, str]) -> None:
    """The rows to come may have numbers in it."""
    table = f"model,task,acc\na,t,{cells[0]}\nb,t,{cells[1]}\n"
    draft = draft_of(table, tmp_path, Wishes(roles=Roles(metrics=("acc",))))

    assert list(parse_manifest(draft.text.encode()).metrics) == ["acc"]


@pytest.mark.parametrize("item", [[1, [2]], {"a": 1}, None])
def test_samples_whose_items_are_no_names_are_drafted_all_the_same(tmp_path: Path, item: object) -> None:
    """A check of the manifest against the results is what refuses them, with their row."""
    (given,) = LM_EVAL.glob("samples_*.jsonl")
    path = tmp_path / given.name
    path.write_text("".join(json.dumps({**json.loads(line), "doc_id": item}) + "\n" for line in _head(given)))
    sheet = read_sheet(sent([path]), tmp_path / "unpacked", LIMITS)

    assert "metrics:\n  exact_match:" in draft_manifest(sheet, "samples", Wishes(), nobody).text


def _head(path: Path) -> list[str]:
    return path.read_text().splitlines()[:3]


def test_pandas_is_loaded_by_the_commands_that_need_it_alone() -> None:
    """It takes as long to load as all the rest of the command line, and no server needs it."""
    loads = "import sys, app.cli.__main__, app.cli.drafts, app.kinds.registry; sys.exit('pandas' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", loads], check=False).returncode == 0
