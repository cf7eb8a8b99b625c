"""Manifests made from fev's task lists."""

import io
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from pandas.tseries.frequencies import to_offset

from app.boards.registry import compute_board
from app.errors import ManifestRejected, Rejected
from app.kinds.parse import parse_manifest
from app.kinds.summary.from_fev import (
    FevOptions,
    choose,
    import_fev,
    manifest_from_fev_tasks,
    offset_of,
    read_fev_tasks,
    read_results,
)
from app.prereg.prereg import parse_prereg
from tests.cases.evidence_tables import FEV, parse, problems, read

EXAMPLE = Path(__file__).parents[3] / "examples" / "fev-bench"
TASKS = (FEV / "tasks.yaml").read_bytes
MINI = (FEV / "tasks_mini.yaml").read_bytes


@pytest.mark.heavy
def test_the_example_is_what_the_import_gives() -> None:
    """Making it again changes nothing but which tasks are of one family, which only a steward can say. Its results are
    given unchanged, its registration names their models, and its boards are fev's own, times on the full ones alone.
    """
    plain = parse(manifest_from_fev_tasks(TASKS(), MINI(), "fev-bench", "fev-bench"))
    choices = choose(FevOptions(), read_results([FEV / "results"], plain), plain.task_ids() or ())
    created = manifest_from_fev_tasks(TASKS(), MINI(), "fev-bench", "fev-bench", choices)
    declared = (EXAMPLE / "manifest.yaml").read_bytes()
    manifest, prereg = parse(declared), parse_prereg((EXAMPLE / "prereg.yaml").read_bytes())
    boards = yaml.safe_load(declared)["leaderboards"]

    assert re.sub(rb"^ *(family|about|group_by): .*\n", b"", declared, flags=re.MULTILINE) == created
    assert {path.name: path.read_bytes() for path in (EXAMPLE / "results").iterdir()} == {
        path.name: path.read_bytes() for path in (FEV / "results").iterdir()
    }
    assert (prereg.benchmark, len(prereg.entrants or ())) == ("fev-bench", 30)
    assert [(board["name"], board.get("normalize_time_per_n_forecasts")) for board in boards] == [
        ("sql", 100), ("mase", 100), ("wape", 100), ("wql", 100), ("sql-mini", None)
    ]  # fmt: skip
    assert (len(manifest.task_ids() or ()), len(manifest.leaderboard("sql-mini").tasks or ())) == (100, 20)


def test_defaults_are_filled_in() -> None:
    """A task that says nothing is spelled out as fev would run it."""
    (task,) = read_fev_tasks(b"tasks: [{dataset_path: org/data}]", "The list")

    assert task.name == "org"
    assert task.metrics == ("MASE",)
    assert dict(task.where) == {
        "dataset_path": "org/data",
        "dataset_config": None,
        "horizon": 1,
        "num_windows": 1,
        "initial_cutoff": -1,
        "window_step_size": 1,
        "min_context_length": 1,
        "max_context_length": None,
        "seasonality": 1,
        "eval_metric": "MASE",
        "extra_metrics": [],
        "quantile_levels": [],
        "id_column": "id",
        "timestamp_column": "timestamp",
        "target": "target",
        "generate_univariate_targets_from": None,
        "known_dynamic_columns": [],
        "past_dynamic_columns": [],
        "static_columns": [],
    }


@pytest.mark.parametrize(
    ("stated", "key", "expected"),
    [
        ("horizon: 96, num_windows: 20", "initial_cutoff", -1920),
        ("horizon: 24, num_windows: 3, window_step_size: 8", "initial_cutoff", -40),
        ("horizon: 24, num_rolling_windows: 3, rolling_step_size: 8", "initial_cutoff", -40),
        ("horizon: 8, initial_cutoff: -99", "initial_cutoff", -99),
        ("horizon: 8, cutoff: '2023-12-15'", "initial_cutoff", "2023-12-15T00:00:00"),
        ("horizon: 8, initial_cutoff: '2023-12-15 06:30'", "initial_cutoff", "2023-12-15T06:30:00"),
        ("target: [t10, t1, t2]", "target", ["t1", "t10", "t2"]),
        ("quantile_levels: [0.9, 0.1, 0.5]", "quantile_levels", [0.1, 0.5, 0.9]),
        *((f"initial_cutoff: '2024-01-01', window_step_size: {text}", "window_step_size", to_offset(text).freqstr)
          for text in ("7D", "1D", "W", "2W", "W-MON", "15min", "ME", "QE", "YS", "24h", "QE-MAR")),
    ],
)  # fmt: skip
def test_a_task_is_spelled_out_as_fev_spells_it(stated: str, key: str, expected: object) -> None:
    """The first cutoff leaves room for every window, unless it is given; lists are sorted, so that their order does not
    make another task; offsets are what pandas makes of them, and rows say that.
    """
    (task,) = read_fev_tasks(f"tasks: [{{dataset_path: a/b, {stated}}}]".encode(), "The list")

    assert task.where[key] == expected


def test_only_metrics_that_every_task_has_get_a_board() -> None:
    """A board over tasks that lack its metric would be empty."""
    tasks = (
        b"tasks: [{dataset_path: a/b, extra_metrics: [RMSE, {name: WAPE}]}, {dataset_path: c/d, extra_metrics: [WAPE]}]"
    )

    manifest = yaml.safe_load(manifest_from_fev_tasks(tasks, None, "two", "Two"))

    assert list(manifest["metrics"]) == ["MASE", "WAPE"]
    assert [board["name"] for board in manifest["leaderboards"]] == ["mase", "wape"]


MIXED = b"""
tasks:
- {dataset_path: a/b, eval_metric: MASE}
- {dataset_path: c/d, eval_metric: SQL, quantile_levels: [0.1, 0.9], extra_metrics: [WAPE]}
"""


def test_tasks_with_metrics_of_their_own_are_compared_by_test_error(tmp_path: Path) -> None:
    """fev's default; its column is read, and the skill over both tasks is 1 minus the root of 1/2 times 1/8."""
    manifest = parse_manifest(manifest_from_fev_tasks(MIXED, None, "two", "Two"))
    tasks = [dict(task.where) | {"task_name": task.id} for task in manifest.tasks]  # type: ignore[union-attr]
    rows = [
        {**task, "model_name": name, "test_error": error, "trained_on_this_dataset": False, "num_forecasts": 1}
        for name, errors in {"Good": (1.0, 0.5), "Seasonal Naive": (2.0, 4.0)}.items()
        for task, error in zip(tasks, errors, strict=True)
    ]
    evidence = read(tmp_path, {"results.csv": pd.DataFrame(rows).to_csv(index=False)}, manifest)
    board = compute_board(manifest, manifest.leaderboards[0], evidence.scores).leaderboard

    assert list(manifest.metrics) == ["test_error"]
    assert [board.name for board in manifest.leaderboards] == ["test-error"]
    assert [(row["entrant"], row["skill_score"]) for row in board.records()] == [
        ("Good", pytest.approx(0.75)),
        ("Seasonal Naive", 0.0),
    ]


def test_metrics_that_all_tasks_share_have_boards_beside_test_error() -> None:
    """Where each task's own metric is another, the shared ones follow; one metric for all needs no second name."""
    shared = MIXED.replace(b"eval_metric: MASE}", b"eval_metric: MASE, extra_metrics: [WAPE]}")
    boards = yaml.safe_load(manifest_from_fev_tasks(shared, None, "two", "Two"))["leaderboards"]

    assert [board["metric"] for board in boards] == ["test_error", "WAPE"]


@pytest.mark.parametrize(
    ("tasks", "column", "words"),
    [
        ("tasks: []", None, "expected a list"),
        ("[1]", None, "expected a list"),
        ("tasks: [1]", "tasks.0", "expected a mapping"),
        ("tasks: [{horizon: 3}]", "tasks.0.dataset_path", "is missing"),
        ("tasks: [{dataset_path: a, horizont: 3}]", "tasks.0.horizont", "did you mean horizon?"),
        ("tasks: [{dataset_path: a, horizon: x}]", "tasks.0.horizon", "whole number"),
        ("tasks: [{dataset_path: a, horizon: true}]", "tasks.0.horizon", "whole number"),
        ("tasks: [{dataset_path: a, cutoff: soon}]", "tasks.0.initial_cutoff", "date and time"),
        ("tasks: [{dataset_path: a, extra_metrics: [{x: 1}]}]", "tasks.0.extra_metrics.0", "must be a name"),
        ("tasks: [{dataset_path: a, target: t, target_column: t}]", "tasks.0.target_column", "deprecated name"),
        ("tasks: [{dataset_path: x/a}, {dataset_path: x/b}]", "tasks.1", "another task has this name"),
        ("tasks: [{dataset_path: toy.parquet}]", "tasks.0", "give it a task_name"),
        ("tasks: [{dataset_path: a/b, horizon: 0}]", "tasks.0.horizon", "at least 1"),
        ("tasks: [{dataset_path: a/b, window_step_size: 7D}]", "tasks.0.window_step_size", "a date and time"),
        ("tasks: [{dataset_path: a/b, window_step_size: 7X}]", "tasks.0.window_step_size", "offset of pandas"),
        ("tasks: [{dataset_path: a/b, window_step_size: 0}]", "tasks.0.window_step_size", "at least 1"),
        ("tasks: [{dataset_path: a/b, horizon: 9, cutoff: -8}]", "tasks.0.initial_cutoff", "at most -9"),
        ("tasks: [{dataset_path: a/b, quantile_levels: [0.0]}]", "tasks.0.quantile_levels.0", "more than 0"),
        ("tasks: [{dataset_path: a/b, extra_metrics: [WQL]}]", "tasks.0.quantile_levels", "WQL needs quantile_levels"),
        ("tasks: [{dataset_path: a/b, extra_metrics: [MASE]}]", "tasks.0.extra_metrics", "named twice"),
    ],
)
def test_what_is_no_task_list_is_refused(tasks: str, column: str | None, words: str) -> None:
    """Each problem has the path of the key."""
    with pytest.raises(ManifestRejected) as refused:
        manifest_from_fev_tasks(tasks.encode(), None, "slug", "Title")

    assert refused.value.problems[0].column == column
    assert words in refused.value.problems[0].message


def test_a_smaller_list_must_be_a_part_of_the_full_one() -> None:
    """A task of the same name that is defined otherwise is another task."""
    with pytest.raises(ManifestRejected) as refused:
        manifest_from_fev_tasks(b"tasks: [{dataset_path: a/b}]", b"tasks: [{dataset_path: a/b, horizon: 2}]", "s", "T")

    assert refused.value.problems[0].value == "a"


def test_a_list_that_is_not_yaml_is_refused() -> None:
    """The strict reader says where."""
    with pytest.raises(Rejected):
        manifest_from_fev_tasks(b"tasks: [", None, "slug", "Title")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/u/fev/ds/toy.parquet", "fev/ds"),
        ("s3://bucket/m4_hourly/*.parquet", "bucket/m4_hourly"),
        ("d/x.arrow", "d"),
    ],
)
def test_a_data_set_in_a_file_is_named_by_its_folders(path: str, name: str) -> None:
    """As fev names the task in its result rows; two folders with a train.parquet are two tasks."""
    (task,) = read_fev_tasks(yaml.safe_dump({"tasks": [{"dataset_path": path}]}).encode(), "The list")

    assert task.name == name


@pytest.mark.parametrize("text", ["0D", "-7D", f"{10**20}D", "", "MON", "D-MON"])
def test_what_is_no_positive_offset_is_refused(text: str) -> None:
    """A window that does not move forward is none."""
    with pytest.raises(ValueError, match="positive offset"):
        offset_of(text)


ZERO_SHOT = b"""
tasks:
- {dataset_path: org/sets, dataset_config: ercot, horizon: 24, seasonality: 24, extra_metrics: [WQL],
   quantile_levels: [0.1, 0.5]}
- {dataset_path: org/sets, dataset_config: ETTh, horizon: 24, extra_metrics: [WQL], quantile_levels: [0.1, 0.5],
   generate_univariate_targets_from: __ALL__}
"""


def old_rows(model: str, flag: str = "False") -> str:
    """Return rows as fev 0.2 wrote them: no task names, no windows, min_ts_length, old names of columns."""
    header = (
        "model_name,dataset_name,dataset_path,dataset_config,horizon,cutoff,lead_time,min_ts_length,max_context_length,"
        "seasonality,eval_metric,extra_metrics,quantile_levels,id_column,timestamp_column,target_column,"
        "multiple_target_columns,past_dynamic_columns,excluded_columns,test_error,training_time_s,inference_time_s,"
        "dataset_fingerprint,trained_on_this_dataset,fev_version,MASE,WQL"
    )
    levels = '"[0.1, 0.5]",id,timestamp,target'
    return "\n".join(
        [
            header,
            f"{model},org_ercot,org/sets,ercot,24,-24,1,25,,24,MASE,['WQL'],{levels},,[],[],0.7,,0.1,ab,{flag},0.2.0,0.7,0.1",
            f"{model},org_ETTh,org/sets,ETTh,24,-24,1,25,,1,MASE,['WQL'],{levels},__ALL__,[],[],0.9,,0.1,cd,False,0.2.0,0.9,0.2",
            "",
        ]
    )


def write_results(folder: Path) -> None:
    """Write three result files of an old release into a folder, beside a file that is none."""
    for model, flag in (("seasonal_naive", "False"), ("chronos_bolt_base", "False"), ("moirai_base", "True")):
        (folder / f"{model}.csv").write_text(old_rows(model, flag))
    (folder / "README.md").write_text("Results.")


def zero_shot(folder: Path, **options: object) -> dict[str, object]:
    """Import the list with three result files of an old release."""
    write_results(folder)
    plain = parse(manifest_from_fev_tasks(ZERO_SHOT, None, "zero-shot", "Zero shot"))
    choices = choose(FevOptions(**options), read_results([folder], plain), plain.task_ids() or ())  # type: ignore[arg-type]
    return dict(yaml.safe_load(manifest_from_fev_tasks(ZERO_SHOT, None, "zero-shot", "Zero shot", choices)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("skill_score", "seasonal_naive", "chronos_bolt_base", None)),
        ({"rank_by": "win_rate"}, ("win_rate", "seasonal_naive", "chronos_bolt_base", None)),
        (
            {"baseline": "moirai_base", "no_leakage_model": True, "per_n_forecasts": 10, "description": "Ours."},
            ("skill_score", "moirai_base", None, 10),
        ),
    ],
)
def test_the_result_files_decide_what_no_option_of_the_steward_does(
    tmp_path: Path, options: dict[str, object], expected: tuple[object, ...]
) -> None:
    """fev's own list is sorted by win rate; its other lists call their models otherwise, and count no forecasts."""
    created = zero_shot(tmp_path, **options)
    board = created["leaderboards"][0]  # type: ignore[index]
    keys = ("rank_by", "baseline", "leakage_model", "normalize_time_per_n_forecasts")

    assert tuple(board.get(key) for key in keys) == expected
    assert str(options.get("description", "")) in str(created["description"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "naive"}, "naive is not among the models"),
        ({"leakage_model": "moirai_base"}, "moirai_base has itself seen data"),
    ],
)
def test_an_option_that_no_result_file_bears_out_is_refused(
    tmp_path: Path, options: dict[str, str], words: str
) -> None:
    """With the models that there are."""
    with pytest.raises(ManifestRejected) as refused:
        zero_shot(tmp_path, **options)

    assert words in refused.value.problems[0].message


def test_rows_of_an_old_release_are_evidence(tmp_path: Path) -> None:
    """The benchmark that the list gives takes them unedited, says which release they are of, and finds their tasks;
    those of fev 0.1, which have no flags, with a warning.
    """
    manifest = parse(yaml.safe_dump(zero_shot(tmp_path)).encode())
    evidence = read(tmp_path, {"r.csv": old_rows("moirai_base", "True")}, manifest)
    without = pd.read_csv(io.StringIO(old_rows("A"))).drop(columns="trained_on_this_dataset").to_csv(index=False)
    unflagged = read(tmp_path, {"r.csv": without}, manifest)

    assert evidence.scores.task.to_list() == ["ercot", "ETTh"]
    assert evidence.scores.leaked.tolist() == [True, False]
    assert any("releases before 0.6.0 may not be comparable: 0.2.0" in warning.message for warning in evidence.warnings)
    assert not unflagged.scores.leaked.any()
    assert any(warning.column == "trained_on_this_dataset" for warning in unflagged.warnings)


OF_NO_TASK = [
    (",24,-24,", ",12,-12,", "horizon 12"),
    (",ercot,", ",nn5,", "dataset_config nn5"),
    (",1,25,", ",1,30,", "min_context_length 6"),
]


@pytest.mark.parametrize(("old", "new", "foreign"), OF_NO_TASK)
def test_a_row_of_an_old_release_that_defines_no_task_is_refused(
    tmp_path: Path, old: str, new: str, foreign: str
) -> None:
    """Its data, its horizon and its shortest series must be a task's; what no task has is named."""
    manifest = parse(yaml.safe_dump(zero_shot(tmp_path)).encode())
    first = "\n".join([*old_rows("A").replace(old, new).splitlines()[:2], ""])
    (problem,) = problems(tmp_path, {"r.csv": first}, manifest)

    assert (problem.row, problem.column) == (2, "dataset_config")
    assert "match no single task of zero-shot" in problem.message
    assert f"; none has {foreign}" in problem.message


def test_the_command_gives_what_the_list_and_the_results_say(tmp_path: Path) -> None:
    """Without results the list alone, under the slug where nobody gives a title."""
    listed, results = tmp_path / "tasks.yaml", tmp_path / "results"
    listed.write_bytes(ZERO_SHOT)
    results.mkdir()
    write_results(results)
    plain, of_results = import_fev(listed, slug="z"), import_fev(listed, results=[results], mini=listed, title="Zero")
    created = yaml.safe_load(of_results.manifest)

    assert (plain.manifest, plain.notes) == (manifest_from_fev_tasks(ZERO_SHOT, None, "z", "z"), [])
    assert (created["slug"], created["title"], of_results.notes) == ("fev-bench", "Zero", [])
    assert [(board["name"], board["baseline"], board["leakage_model"]) for board in created["leaderboards"]] == [
        (name, "seasonal_naive", "chronos_bolt_base") for name in ("mase", "wql", "mase-mini")
    ]


def test_the_command_keeps_to_its_options_and_counts_rows_of_no_task(tmp_path: Path) -> None:
    """Whatever results would say; a row of another data set is left out with a note."""
    listed = tmp_path / "tasks.yaml"
    listed.write_bytes(ZERO_SHOT)
    other = tmp_path / "other.csv"
    other.write_text(old_rows("other").replace("org_ercot,org/sets,ercot", "org_nn5,org/sets,nn5"))
    made = import_fev(listed, results=[other], baseline="other", no_leakage_model=True, per_forecasts=7,
                      rank_by="win_rate", description="Ours.")  # fmt: skip
    created = yaml.safe_load(made.manifest)
    board = created["leaderboards"][0]

    assert made.notes == ["1 rows of the result files belong to no task in the list, or differ from its definition."]
    assert (board["baseline"], board["rank_by"], board["normalize_time_per_n_forecasts"]) == ("other", "win_rate", 7)
    assert "leakage_model" not in board
    assert (created["title"], created["description"]) == ("fev-bench", "Ours.\n")
