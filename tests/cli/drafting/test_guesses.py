"""What each column of a table is taken for, which range a metric has, and which grid and boards follow from that."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from app.errors import TooLarge
from app.kinds.parse import parse_manifest
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.model import Manifest, part_of
from app.receiving.drafting import (
    NO_COLUMN,
    Roles,
    Wishes,
    draft_manifest,
    plain_slug,
    plain_title,
    read_sheet,
)
from tests.cases.drafts import LIMITS, draft_of, nobody, sent
from tests.cases.harnesses import LM_EVAL


def rows(header: str, *each: object) -> str:
    """Return a table; a row is a text, or a tuple of cells."""
    lines = (",".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in each)
    return "\n".join([header, *lines]) + "\n"


def manifest_of(text: str, folder: Path, wishes: Wishes | None = None) -> Manifest:
    """Return what is drafted of a table as the manifest that it is."""
    return parse_manifest(draft_of(text, folder, wishes).text.encode())


PAIRS = [(m, t) for m in "ab" for t in "xyz"]
"""Two entrants on three tasks."""
ONE = ("model", "task", "acc")
TYPES = {"x": "p", "y": "p", "z": "q"}
NUMBERED = [(*pair, at) for pair in PAIRS for at in range(2)]
TWICE = list(product("ab", "xy", range(2), range(2)))

ROLES: dict[str, tuple[str, Wishes, Roles]] = {
    "rows that no entrant and task share need no seed, item or condition, and their numbers are no metrics": (
        rows("model,task,mode,run,question,acc", *((*pair, "fast", at % 2, at, 0.5) for at, pair in enumerate(PAIRS))),
        Wishes(), Roles("model", "task", metrics=("acc",), recorded=("mode",))),
    "what describes a row ranks nobody": (
        rows("model,task,rank,n_shots,std_x,acc_stderr,acc,zeta", *((*pair, 1, 2, 3, 4, 0.5, 6) for pair in PAIRS)),
        Wishes(), Roles("model", "task", metrics=("acc", "zeta"))),
    "a column with one value for each task, and fewer than tasks, is a group": (
        rows("model,task,type,one,own,of_both,empty,acc",
             *((m, t, TYPES[t], "k", f"o{t}", f"{m}{TYPES[t]}", "" if t == "z" else TYPES[t], 0.5) for m, t in PAIRS)),
        Wishes(), Roles("model", "task", metrics=("acc",), groups=("type",),
                        recorded=("one", "own", "of_both", "empty"))),
    "without tasks there is no group": (
        rows("model,type,acc", "a,p,0.5", "b,p,0.6", "c,q,0.7"),
        Wishes(), Roles("model", metrics=("acc",), recorded=("type",))),
    "a seed is a whole number, and there are several": (
        rows("model,task,seed,random_seed,run,trial,acc", *((*pair, at / 2, f"s{at}", 7, at, 0.5)
                                                            for *pair, at in NUMBERED)),
        Wishes(), Roles("model", "task", seed="trial", metrics=("acc",), recorded=("random_seed",))),
    "a seed that is missing somewhere is none": (
        rows("model,task,seed,doc_id,acc", *((*pair, at or "", at, 0.5) for *pair, at in NUMBERED)),
        Wishes(), Roles("model", "task", item=("doc_id",), metrics=("acc",))),
    "an entrant or a task that is missing somewhere, or is no name, is none": (
        rows("model,system,policy,dataset,task,acc", *(("" if t == "z" else m, f"{m}  {m}", m, t, "", 0.5)
                                                       for m, t in PAIRS)),
        Wishes(), Roles("policy", "dataset", metrics=("acc",), recorded=("model", "system", "task"))),
    "the first of two names that are one": (
        rows("Model,model,task,acc", *((m, "k", t, 0.5) for m, t in PAIRS)),
        Wishes(), Roles("Model", "task", metrics=("acc",), recorded=("model",))),
    "a condition before a seed before an item": (
        rows("model,task,mode,seed,doc_id,acc", *((*each, of, at, 0.5) for *each, of, at in
                                                  ((m, t, c, s, i) for m, t, c, s, i in
                                                   product("ab", "xy", ("on", "off"), range(2), range(2))))),
        Wishes(), Roles("model", "task", "mode", "seed", ("doc_id",), ("acc",))),
    "two columns that only together tell rows apart": (
        rows("model,task,question,sample,acc", *((*each, 0.5) for each in TWICE)),
        Wishes(roles=Roles(seed=NO_COLUMN)), Roles("model", "task", item=("sample", "question"), metrics=("acc",))),
    "one that tells most of them apart, where none tells all": (
        rows("model,task,question,sample,acc", *((*each, 0.5) for each in TWICE for _ in range(2))),
        Wishes(roles=Roles(seed=NO_COLUMN)),
        Roles("model", "task", item=("sample",), metrics=("acc",), n_repeated=24)),
    "an item that is missing somewhere is none": (
        rows("model,task,item,doc_id,acc", *((*pair, at or "", f"q{at}", 0.5) for *pair, at in NUMBERED)),
        Wishes(roles=Roles(seed=NO_COLUMN)), Roles("model", "task", item=("doc_id",), metrics=("acc",))),
    "what is given is kept, also where no row repeats": (
        rows("model,task,who,what,run,mode,no,acc,f1", *((*pair, *pair, at % 2, f"m{at % 2}", at, 0.5, 0.6)
                                                         for at, pair in enumerate(PAIRS))),
        Wishes(roles=Roles("who", "what", "mode", "run", ("no",), ("f1",))),
        Roles("who", "what", "mode", "run", ("no",), ("f1",), recorded=("model", "task"))),
    "a role that is to have no column has none": (
        rows("model,task,mode,run,doc_id,acc", *((*each, of, at, 0.5) for *each, of, at in
                                                 product("ab", "xy", ("on", "off"), range(2), range(2)))),
        Wishes(roles=Roles(entrant=NO_COLUMN, task=NO_COLUMN, condition=NO_COLUMN, seed=NO_COLUMN)),
        Roles(item=("doc_id",), metrics=("acc",), recorded=("model", "task", "mode"), n_repeated=30)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROLES)
def test_columns_are_told_apart_by_their_names_and_by_what_their_cells_can_be(tmp_path: Path, name: str) -> None:
    """Of everything that a draft takes a column to be."""
    text, wishes, roles = ROLES[name]

    assert draft_of(text, tmp_path, wishes).roles == roles


METRICS: dict[str, tuple[str, list[object], tuple[str | None, float | None, float | None, str | None, str]]] = {
    "a share": ("accuracy", [0, 0.5, 1], ("maximize", 0, 1, None, "values lie within 0 and 1")),
    "of which no name says the direction": ("zeta", [0, 0.5, 1], (None, 0, 1, None, "values lie within 0 and 1")),
    "an error that is a share": ("wer", [0.5, 1], ("minimize", 0, 1, None, "values lie within 0 and 1")),
    "an error that may be larger": ("error", [0, 0.5, 1], ("minimize", 0, None, None, "no value is negative")),
    "zeros and ones": ("error", [0, 1, 1], ("minimize", 0, 1, None, "every value is 0 or 1")),
    "true and false": ("error", ["true", "False", "TRUE"], ("minimize", 0, 1, None, "every value is 0 or 1")),
    "true alone": ("error", ["true", "true"], ("minimize", 0, 1, None, "every value is 0 or 1")),
    "a correlation": (
        "score", [-1, 1], ("maximize", -1, 1, None, "values lie within -1 and 1, and some are negative")),
    "any number": ("score", [-1.5, 1], ("maximize", None, None, None, "any number")),
    "any number beyond one": ("score", [-0.5, 1.5], ("maximize", None, None, None, "any number")),
    "a percentage": ("accuracy", [0, 1.5], ("maximize", 0, 100, None, "values lie within 0 and 100: a percentage?")),
    "seconds": ("time_s", [0, 1.5], ("minimize", 0, None, "s", "no value is negative")),
    "seconds and nothing else": ("seconds", [0, 1.5], ("minimize", 0, None, "s", "no value is negative")),
    "the last word that is a unit": ("time_ms_min", [3, 1.5], ("minimize", 0, None, "min", "no value is negative")),
    "the last word that says the direction": (
        "accuracy_loss", [2, 1.5], ("minimize", 0, 100, None, "values lie within 0 and 100: a percentage?")),
    "numbers with gaps": (
        "accuracy", [0.5, "nan", "inf", "NaN"], ("maximize", 0, 1, None, "values lie within 0 and 1")),
}  # fmt: skip
"""Its column, the values, and the direction, least and greatest value, unit and reason."""


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_guessed_from_its_name_and_its_numbers(tmp_path: Path, name: str) -> None:
    """At each limit of a range; a direction by the name alone."""
    column, values, expected = METRICS[name]
    (metric,) = draft_of(
        rows(f"model,{column}", *((f"m{at}", value) for at, value in enumerate(values))), tmp_path
    ).metrics

    assert (metric.direction, metric.low, metric.high, metric.unit, metric.why) == expected


def test_every_column_of_numbers_or_flags_is_offered_as_a_metric(tmp_path: Path) -> None:
    """Also what is no metric by its name; a column of words is none."""
    table = rows("model,task,rank,passed,word,none,acc", "a,t,1,true,x,inf,0.5", "b,t,2,no,y,,0.5")

    assert draft_of(table, tmp_path).offered == ("rank", "acc")
    assert draft_of(table.replace("no,y", "false,y"), tmp_path).offered == ("rank", "passed", "acc")


def test_a_column_called_metric_that_holds_numbers_makes_no_long_form(tmp_path: Path) -> None:
    """In the long form it holds names."""
    assert draft_of("model,task,metric,score\na,t,1,0.5\nb,t,2,0.7\n", tmp_path).roles.metrics == ("metric", "score")


def test_a_direction_that_is_given_is_no_guess(tmp_path: Path) -> None:
    """Also where the name says another one."""
    wishes = Wishes(directions={"accuracy": "minimize"})

    assert manifest_of("model,task,accuracy\na,t,0.5\n", tmp_path, wishes).metrics["accuracy"].direction == "minimize"


def test_each_metric_has_a_name_of_its_own(tmp_path: Path) -> None:
    """However alike the columns are, or long: numbered from 2, and of as many letters as a metric may have."""
    columns = ["acc (%)", "acc [%]", "_acc_", "acc" + 70 * "x", "exact,strict", "éacc"]
    draft = draft_of(
        rows(f"model,{','.join(f'{chr(34)}{each}{chr(34)}' for each in columns)}", "a,1,2,3,4,5,6"), tmp_path
    )

    assert [metric.name for metric in draft.metrics] == [
        "acc", "acc_2", "acc_3", "acc" + 57 * "x", "exact.strict", "acc_4"
    ]  # fmt: skip


def test_a_manifest_reads_each_metric_from_its_column_with_its_unit_and_range(tmp_path: Path) -> None:
    """Names that YAML reads as something else are in quotes; both ends of a range are written, or one, or none."""
    table = rows('model,"acc, all",b_%,c_percent,time_s,score', "a,0.5,40.25,2,3,-2.5", "b,0.7,1,4,2,4")
    wishes = Wishes(title="yes: no", directions=dict.fromkeys(("acc, all", "b_%", "c_percent", "score"), "maximize"))
    manifest = manifest_of(table, tmp_path, wishes)

    assert manifest.title == "yes: no"
    assert {name: (each.source, each.min, each.max, each.unit) for name, each in manifest.metrics.items()} == {
        "acc._all": ("acc, all", 0, 1, None),
        "b": ("b_%", 0, 100, None),
        "c_percent": (None, 0, 100, "%"),
        "time_s": (None, 0, None, "s"),
        "score": (None, None, None, None),
    }


BOARDS: dict[str, tuple[str, list[tuple[str, str, str | None, list[str] | None]]]] = {
    "five tasks are enough for points": (
        rows("model,task,acc", *product("ab", "edcba", [0.5])),
        [("mean", "mean", "acc", None), ("borda", "borda", "acc", None)]),
    "four are not": (rows("model,task,acc", *product("ab", "dcba", [0.5])), [("mean", "mean", "acc", None)]),
    "nor is one that no column names": (rows("model,acc", "a,0.5", "b,0.6"), [("mean", "mean", "acc", None)]),
    "nor are four of five that have the metric": (
        rows("model,task,acc,f1", *((m, t, "" if t == "a" else 0.5, 0.5) for m, t in product("ab", "edcba"))),
        [("mean", "mean", "acc", ["b", "c", "d", "e"]), ("mean-f1", "mean", "f1", None)]),
    "five of six that have the metric": (
        rows("model,task,acc", *((m, t, "" if t == "a" else 0.5) for m, t in product("ab", "fedcba"))),
        [("mean", "mean", "acc", list("bcdef")), ("borda", "borda", "acc", list("bcdef"))]),
    "the others, where one task has the second metric": (
        rows("model,task,acc,f1", *((m, t, 0.5, 0.5 if t == "a" else "") for m, t in product("ab", "edcba"))),
        [("mean", "mean", "acc", None), ("borda", "borda", "acc", None), ("mean-f1", "mean", "f1", ["a"])]),
    "groups of the tasks that have the metric": (
        rows("model,task,a type,acc", *((m, t, TYPES[t], "" if t == "x" else 0.5) for m, t in PAIRS)),
        [("mean", "mean", "acc", ["y", "z"]), ("mean-a-type", "group_mean", "acc", None)]),
    "ten metrics at most": (
        rows(f"model,{','.join(f'F{at}.acc' for at in range(12))}", ("a", *[0.5] * 12)),
        [("mean", "mean", "F0.acc", None), *((f"mean-f{at}-acc", "mean", f"F{at}.acc", None) for at in range(1, 10))]),
}  # fmt: skip
"""A table, and the name, method, metric and tasks of each board."""


@pytest.mark.parametrize("name", BOARDS)
def test_boards_average_over_the_tasks_and_groups_that_there_are(tmp_path: Path, name: str) -> None:
    """Each over the tasks that have its metric."""
    text, boards = BOARDS[name]
    manifest = manifest_of(text, tmp_path)
    told = [
        (each.name, each.method, getattr(each, "metric", None), getattr(each, "tasks", None))
        for each in manifest.leaderboards
    ]

    assert told == boards
    assert list(manifest.task_ids() or ()) == sorted(manifest.task_ids() or ())


def test_the_groups_of_a_board_are_those_of_its_tasks(tmp_path: Path) -> None:
    """A task without the metric is in none."""
    table = rows("model,task,type,acc", *((m, t, TYPES[t], "" if t == "x" else 0.5) for m, t in PAIRS))
    manifest = manifest_of(table, tmp_path)

    assert [each.groups for each in manifest.leaderboards if hasattr(each, "groups")] == [{"p": ["y"], "q": ["z"]}]
    assert isinstance(manifest.tasks, list)
    assert [(task.id, task.where) for task in manifest.tasks] == [(t, {"type": TYPES[t]}) for t in "xyz"]


def episodes(seeds: dict[str, list[int]], items: dict[str, list[str]]) -> str:
    """Return a table of items: which seeds each entrant has, and which items each task."""
    return rows("model,task,seed,doc_id,time", *(
        (name, task, seed, item, 0.5) for name, own in seeds.items() for seed in own
        for task, listed in items.items() for item in listed))  # fmt: skip


ITEMS = {"x": ["10", "9"], "y": ["10", "9"]}
GRIDS: dict[str, tuple[str, object, object, object]] = {
    "the seeds of everybody": (episodes({"a": [2, 10], "b": [10, 2]}, ITEMS), [2, 10], ["9", "10"], None),
    "those of most": (episodes({"a": [1, 2], "b": [1, 2], "c": [2]}, ITEMS), [1, 2], ["9", "10"], None),
    "other seeds of each": (episodes({"a": [1, 2], "b": [3, 4]}, ITEMS), None, ["9", "10"], None),
    "seeds below zero": (episodes({"a": [-1, 2], "b": [-1, 2]}, ITEMS), None, ["9", "10"], None),
    "seeds alone": (rows("model,task,seed,time", *product("ab", "xy", (0, 1), (3,))), [0, 1], None, None),
    "items that differ from task to task": (
        episodes({"a": [0, 1], "b": [0, 1]}, {"x": ["10", "9"], "y": ["b", "9"]}), [0, 1], None,
        {"x": ["9", "10"], "y": ["9", "b"]}),
    "items that are called by what is a digit and no number": (
        episodes({"a": [0, 1], "b": [0, 1]}, {"x": ["\N{SUPERSCRIPT TWO}", "1"]}), [0, 1], ["1", "\N{SUPERSCRIPT TWO}"],
        None),
    "no task": (
        rows("model,doc_id,time", *product("ab", ("10", "9"), (3,))), [0], ["9", "10"], None),
}  # fmt: skip
"""A table, and the seeds, the items of all tasks and those of each that its grid asks for."""


@pytest.mark.parametrize("name", GRIDS)
def test_the_grid_is_what_most_have(tmp_path: Path, name: str) -> None:
    """Seeds where most have the same ones, and the items of each task, in the order of their numbers."""
    text, seeds, items, by_task = GRIDS[name]
    manifest = manifest_of(text, tmp_path)
    grid = manifest.grid
    assert grid is not None

    assert (grid.seeds, grid.items) == (seeds, items)
    assert ({name: each.items for name, each in (grid.tasks or {}).items()} or None) == by_task


@pytest.mark.parametrize(
    ("column", "values", "statistic"),
    [("correct", (0, 1), "mean"), ("time", (0, 1), "mean"), ("time", (0, 3), "iqm"), ("score", (-1, 1), "iqm")],
)
def test_a_share_is_estimated_by_its_mean_and_anything_else_without_its_tails(
    tmp_path: Path, column: str, values: tuple[int, int], statistic: str
) -> None:
    """Of all metrics the first one ranks."""
    table = rows(f"model,task,doc_id,{column},zeta", *((*pair, at, values[at], at) for *pair, at in NUMBERED))
    manifest = manifest_of(table, tmp_path, Wishes(directions={"zeta": "maximize"}))
    told = [(each.name, each.metric_names(), each.ranked, each.statistic) for each in manifest.leaderboards]  # type: ignore[attr-defined]

    assert told == [(column, (column, "zeta"), column, statistic)]


def labels(*words: object, task: str = "") -> str:
    """Return a file of labels."""
    return rows(
        f"item,label{task and ',task'}", *((f"i{at}", each, *([task] if task else ())) for at, each in enumerate(words))
    )


LABELS: dict[str, tuple[str, list[str], list[str] | None, str | None]] = {
    "two classes, the second of which is predicted": (
        labels("no", "yes", "no"), ["auc", "accuracy", "brier"], ["no", "yes"], "yes"),
    "two numbers": (labels(10, 9), ["auc", "accuracy", "brier"], ["9", "10"], "10"),
    "twenty classes": (labels(*range(20)), ["accuracy"], [str(at) for at in range(20)], None),
    "more": (labels(*range(21)), ["rmse", "mae"], None, None),
    "a fraction": (labels(1, 2.5, 3), ["rmse", "mae"], None, None),
    "of tasks": (labels("a", "b", "c", task="t"), ["accuracy"], ["a", "b", "c"], None),
}  # fmt: skip
"""A file, and the metrics, the classes and the positive one that are drafted of it."""


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_classes_or_numbers(tmp_path: Path, name: str) -> None:
    """Up to twenty classes, in the order of their numbers; the first metric ranks."""
    text, metrics, classes, positive = LABELS[name]
    manifest = manifest_of(text, tmp_path)
    said = part_of(manifest, PredictionsPart).predictions
    (board,) = manifest.leaderboards

    assert (list(manifest.metrics), board.ranked) == (metrics, metrics[0])  # type: ignore[attr-defined]
    assert manifest.task_ids() == (("t",) if "task" in text else ("all",))
    assert (said.classes, said.positive) == (classes, positive)


def test_what_has_more_than_labels_is_a_table_of_results(tmp_path: Path) -> None:
    """Also where two of its columns are called as those of labels."""
    draft = draft_of("item,label,model,acc\n1,x,a,0.5\n2,y,a,0.6\n", tmp_path)

    assert draft.roles == Roles("model", item=("item",), metrics=("acc",), recorded=("label",))


def test_what_no_name_says_is_asked_with_what_may_be_answered(tmp_path: Path) -> None:
    """The entrant, the task, what tells repeated rows apart, and which way each metric is better, in this order."""
    asked: list[tuple[str, list[str]]] = []
    answers = iter(["who", NO_COLUMN, "at", "minimize", "maximize"])

    def answer(question: str, offered: Sequence[str]) -> str:
        asked.append((question, list(offered)))
        return next(answers)

    draft = draft_of(rows("who,what,at,zeta,eta", "a,x,p,1.5,-2", "a,x,q,2,4.25", "b,x,p,3,4"), tmp_path, ask=answer)

    assert asked == [
        ("Which column names the entrant (the model, the system)?", ["who", "what", "at", NO_COLUMN]),
        ("Which column names the task (the data set, the workload)?", ["who", "what", "at", NO_COLUMN]),
        ("1 rows repeat who. Which column distinguishes them?", ["what", "at", "zeta", "eta"]),
        ("Which way is zeta better (it goes from 1.5 to 3)?", ["maximize", "minimize"]),
        ("Which way is eta better (it goes from -2 to 4.25)?", ["maximize", "minimize"]),
    ]
    assert draft.roles == Roles("who", item=("at",), metrics=("zeta", "eta"), recorded=("what",))
    assert [(each.name, each.direction) for each in draft.metrics] == [("zeta", "minimize"), ("eta", "maximize")]


def test_an_answer_is_added_to_the_items_and_what_is_to_be_none_is_not_asked_about(tmp_path: Path) -> None:
    """A column that is a metric to the guess becomes part of the item."""
    asked: list[str] = []

    def answer(question: str, offered: Sequence[str]) -> str:
        asked.append(question)
        return offered[-1]

    table = rows("doc_id,beside,zeta", "1,1.5,1", "1,2.5,1", "2,3.5,1")
    wishes = Wishes(roles=Roles(entrant=NO_COLUMN, task=NO_COLUMN, item=("doc_id",), metrics=("beside",)))
    draft = draft_of(table, tmp_path, wishes, answer)

    assert asked[:1] == ["1 rows repeat doc_id. Which column distinguishes them?"]
    assert draft.roles == Roles(item=("doc_id", "zeta"), metrics=("beside",), n_repeated=1)


def test_an_answer_leaves_the_metrics_that_were_asked_for(tmp_path: Path) -> None:
    """Of three columns of numbers the one that was named; without a name all but the answer."""
    answers = {"entrant": "who", "task": "what"}

    def answer(question: str, offered: Sequence[str]) -> str:
        return next((answers[each] for each in answers if f"the {each}" in question), "maximize")

    table = rows("who,what,first,second,third", "a,x,1,2,3", "b,x,2,3,4")

    for given, metrics in (((), ("first", "second", "third")), (("second",), ("second",))):
        draft = draft_of(table, tmp_path, Wishes(roles=Roles(metrics=given)), answer)
        assert draft.roles == Roles("who", "what", metrics=metrics)


@pytest.mark.parametrize(
    ("stem", "slug", "title"),
    [
        ("My_results--2026", "my-results-2026", "My results 2026"),
        ("_" + 70 * "a", 63 * "a", 70 * "a"),
        (62 * "a" + "-b", 62 * "a", 62 * "a" + " b"),
        (201 * "b", 63 * "b", 200 * "b"),
        ("", "my-benchmark", "My benchmark"),
        ("准", "my-benchmark", "准"),
    ],
)
def test_a_benchmark_is_called_as_its_file_is(stem: str, slug: str, title: str) -> None:
    """As far as an address and a title may be; what is wished for comes first, and is made an address as well."""
    assert (plain_slug(Wishes(), stem), plain_title(stem)) == (slug, title)
    assert plain_slug(Wishes(slug=stem), "other") == (slug if stem else "other")


def test_what_is_wished_for_goes_before_what_a_harness_says(tmp_path: Path) -> None:
    """Of columns and of directions."""
    sheet = read_sheet(sent(sorted(LM_EVAL.glob("results_*.json"))), tmp_path, LIMITS)
    wishes = Wishes(roles=Roles(metrics=("seed", "exact_match,none")), directions={"exact_match,none": "minimize"})
    (usual,) = draft_manifest(sheet, "r", Wishes(), nobody).metrics
    wished = draft_manifest(sheet, "r", wishes, nobody).metrics

    assert (usual.column, usual.direction) == ("exact_match,none", "maximize")
    assert [(each.column, each.direction) for each in wished] == [("seed", None), ("exact_match,none", "minimize")]


def test_a_harness_says_which_way_its_metrics_are_better(tmp_path: Path) -> None:
    """Whatever their filter, and against what a name would say."""
    results = {"t": {"acc,strict": 0.5, "zeta,none": 1.5, "eta": 2.5}}
    said = {"results": results, "higher_is_better": {"t": {"acc": False, "zeta": True}}, "model_name": "m"}
    path = tmp_path / "results_2026-01-31T10-00-00.000000.json"
    path.write_text(json.dumps(said))
    draft = draft_manifest(read_sheet(sent([path]), tmp_path / "unpacked", LIMITS), "r", Wishes(), nobody)

    assert "description: Results of lm-eval." in draft.text
    assert {each.column: each.direction for each in draft.metrics} == {
        "acc,strict": "minimize", "zeta,none": "maximize", "eta": None
    }  # fmt: skip


def test_nothing_is_drafted_of_more_records_than_a_server_takes(tmp_path: Path) -> None:
    """At the limit it is."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"model": "a", "acc": 0.5}\n{"model": "b", "acc": 0.5}\n')

    assert len(read_sheet(sent([path]), tmp_path / "one", replace(LIMITS, max_rows=2)).frame) == 2
    with pytest.raises(TooLarge):
        read_sheet(sent([path]), tmp_path / "other", replace(LIMITS, max_rows=1))
