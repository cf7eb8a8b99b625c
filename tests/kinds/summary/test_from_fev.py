"""Manifests made from fev's task lists."""

from pathlib import Path

import pytest
import yaml

from app.errors import ManifestRejected, Rejected
from app.kinds.summary.from_fev import manifest_from_fev_tasks, read_fev_tasks
from app.prereg.prereg import parse_prereg
from tests.cases.evidence_tables import FEV, parse

EXAMPLE = Path(__file__).parents[3] / "examples" / "fev-bench"
TASKS = (FEV / "tasks.yaml").read_bytes
MINI = (FEV / "tasks_mini.yaml").read_bytes


def test_the_example_is_what_the_import_gives() -> None:
    """Making it again changes nothing, so nobody has edited it by hand."""
    made = manifest_from_fev_tasks(TASKS(), MINI(), "fev-bench", "fev-bench")

    assert made == (EXAMPLE / "manifest.yaml").read_bytes()


def test_the_example_is_a_manifest() -> None:
    """Our own reader takes it: no aliases, every name allowed, every board's metric and tasks declared."""
    manifest = parse((EXAMPLE / "manifest.yaml").read_bytes())

    assert [board.name for board in manifest.leaderboards] == ["sql", "mase", "wape", "wql", "sql-mini"]
    assert len(manifest.task_ids() or ()) == 100
    assert len(manifest.leaderboard("sql-mini").tasks or ()) == 20


def test_the_prereg_of_the_example_names_its_entrants() -> None:
    """Every model of the result files is registered, and the benchmark is this one."""
    prereg = parse_prereg((EXAMPLE / "prereg.yaml").read_bytes())

    assert prereg.benchmark == "fev-bench"
    assert len(prereg.entrants or ()) == 30


def test_results_of_the_example_are_those_of_the_source() -> None:
    """The files are given unchanged."""
    files = {path.name: path.read_bytes() for path in (EXAMPLE / "results").iterdir()}

    assert files == {path.name: path.read_bytes() for path in (FEV / "results").iterdir()}


def test_defaults_are_filled_in() -> None:
    """A task that says nothing is spelled out as fev would run it."""
    (task,) = read_fev_tasks(b"tasks: [{dataset_path: org/data}]", "The list")

    assert task.name == "data"
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
    ("windows", "cutoff"),
    [
        ("horizon: 96, num_windows: 20", -1920),
        ("horizon: 24, num_windows: 3, window_step_size: 8", -40),
        ("horizon: 24, num_rolling_windows: 3, rolling_step_size: 8", -40),
        ("horizon: 8, initial_cutoff: -99", -99),
        ("horizon: 8, cutoff: '2023-12-15'", "2023-12-15T00:00:00"),
        ("horizon: 8, initial_cutoff: '2023-12-15 06:30'", "2023-12-15T06:30:00"),
    ],
)
def test_the_first_cutoff_leaves_room_for_every_window(windows: str, cutoff: int | str) -> None:
    """It is the horizon and the steps between the windows from the end, unless it is given."""
    (task,) = read_fev_tasks(f"tasks: [{{dataset_path: a/b, {windows}}}]".encode(), "The list")

    assert task.where["initial_cutoff"] == cutoff


def test_lists_of_columns_are_sorted() -> None:
    """As fev does, so that their order does not make another task."""
    (task,) = read_fev_tasks(b"tasks: [{dataset_path: a/b, target: [t10, t1, t2]}]", "The list")

    assert task.where["target"] == ["t1", "t10", "t2"]


def test_only_metrics_that_every_task_has_get_a_board() -> None:
    """A board over tasks that lack its metric would be empty."""
    tasks = (
        b"tasks: [{dataset_path: a/b, extra_metrics: [WQL, {name: WAPE}]}, {dataset_path: a/c, extra_metrics: [WAPE]}]"
    )

    manifest = yaml.safe_load(manifest_from_fev_tasks(tasks, None, "two", "Two"))

    assert list(manifest["metrics"]) == ["MASE", "WAPE"]
    assert [board["name"] for board in manifest["leaderboards"]] == ["mase", "wape"]


def test_times_are_normalised_on_the_full_boards_only() -> None:
    """As in fev's own published tables."""
    boards = yaml.safe_load((EXAMPLE / "manifest.yaml").read_text())["leaderboards"]

    assert [board.get("normalize_time_per_n_forecasts") for board in boards] == [100, 100, 100, 100, None]


@pytest.mark.parametrize(
    ("tasks", "column", "words"),
    [
        ("tasks: []", None, "expected a list"),
        ("[1]", None, "expected a list"),
        ("tasks: [1]", "tasks.0", "must be a mapping"),
        ("tasks: [{horizon: 3}]", "tasks.0.dataset_path", "must be text"),
        ("tasks: [{dataset_path: a, horizont: 3}]", "tasks.0.horizont", "not a part of a task"),
        ("tasks: [{dataset_path: a, horizon: x}]", "tasks.0.horizon", "whole number"),
        ("tasks: [{dataset_path: a, horizon: true}]", "tasks.0.horizon", "whole number"),
        ("tasks: [{dataset_path: a, cutoff: soon}]", "tasks.0.initial_cutoff", "date and time"),
        ("tasks: [{dataset_path: a, extra_metrics: [{x: 1}]}]", "tasks.0.extra_metrics", "must be a name"),
        ("tasks: [{dataset_path: a, target: t, target_column: t}]", "tasks.0.target_column", "deprecated name"),
        ("tasks: [{dataset_path: x/a}, {dataset_path: y/a}]", "tasks.1", "another task has this name"),
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

    assert refused.value.problems[0].value == "b"


def test_a_list_that_is_not_yaml_is_refused() -> None:
    """The strict reader says where."""
    with pytest.raises(Rejected):
        manifest_from_fev_tasks(b"tasks: [", None, "slug", "Title")
