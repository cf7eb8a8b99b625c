"""Episodes from plain files: what is read, and what is wrong with each line."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.errors import Problem
from app.kinds.episodes.manifest_part import EpisodesPart
from app.manifest.model import part_of
from tests.cases.chamber import episode, episodes, lines, manifest, zipped
from tests.cases.evidence_tables import problems, read


def the_problem(folder: Path, content: bytes, name: str = "run.jsonl") -> Problem:
    """Return the one thing that is wrong with a file of episodes."""
    (problem,) = problems(folder, {name: content}, manifest(), "mover")
    return problem


def test_an_episode_is_a_row(tmp_path: Path) -> None:
    """Seed, item, condition and scores stand in their columns; booleans are 0 and 1."""
    scores = read(tmp_path, {"run.jsonl": lines([episode(3, 0, success=True)])}, manifest(), "mover").scores

    assert scores.seed is not None
    assert scores.item is not None
    assert scores.condition is not None
    assert (scores.entrant.words, scores.task.words, scores.condition.words) == (("mover",), ("place",), ("left",))
    assert (scores.seed.tolist(), scores.item.words, scores.value("success").tolist()) == ([3], ("0/300",), [1.0])


def test_a_metric_above_a_limit_is_counted(tmp_path: Path) -> None:
    """A peak above zero is a violation; at zero it is none."""
    records = [episode(0, 0, constraint_violation_peak=0.0), episode(0, 1, constraint_violation_peak=0.2)]
    scores = read(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover").scores

    assert scores.value("violation").tolist() == [0.0, 1.0]


def test_a_csv_with_dotted_columns_is_the_same(tmp_path: Path) -> None:
    """A flat table names what JSON nests, and writes its booleans as words."""
    text = (
        "seed,episode_idx,initial_state_seed,success,constraint_violation_peak,metadata.member\n"
        "0,0,0,true,0,left\n0,1,1,False,0.5,right\n"
    )
    scores = read(tmp_path, {"run.csv": text}, manifest(), "mover").scores

    assert scores.value("success").tolist() == [1.0, 0.0]
    assert scores.value("violation").tolist() == [0.0, 1.0]


def test_a_list_of_episodes_is_the_same(tmp_path: Path) -> None:
    """One JSON list instead of lines."""
    scores = read(tmp_path, {"run.json": json.dumps(episodes())}, manifest(), "mover").scores

    assert len(scores) == 40


def test_a_list_of_episodes_that_is_not_utf_8_is_named_with_its_byte(tmp_path: Path) -> None:
    """A file that a program of another encoding wrote over."""
    problem = the_problem(tmp_path, json.dumps(episodes()).encode().replace(b"left", b"l\xe4ft", 1), "run.json")

    assert problem.file == "run.json"
    assert "UTF-8" in problem.message


def test_an_empty_cell_is_null(tmp_path: Path) -> None:
    """A peak that was not measured is neither a violation nor none."""
    records = [episode(0, 0, constraint_violation_peak=None), episode(0, 1)]
    scores = read(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover").scores

    assert np.isnan(scores.value("violation")).tolist() == [True, False]


def test_a_broken_line_has_its_number(tmp_path: Path) -> None:
    """The third line is not JSON."""
    problem = the_problem(tmp_path, lines([episode(0, 0), episode(0, 1)]) + b'{"seed": 0,\n')

    assert (problem.file, problem.row) == ("run.jsonl", 3)


def test_a_boolean_as_text_is_refused(tmp_path: Path) -> None:
    """The text "false" would be true in many languages."""
    problem = the_problem(tmp_path, lines([episode(0, 0, success="false")]))

    assert (problem.row, problem.column, problem.value) == (1, "success", "false")


def test_a_repeated_episode_names_both_places(tmp_path: Path) -> None:
    """The same seed, item and condition twice: one of them would silently win."""
    problem = the_problem(tmp_path, lines([episode(0, 0), episode(0, 0, success=False)]))

    assert problem.message == "the episode is there already: row 1 of run.jsonl"
    assert problem.row == 2


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_score_that_is_not_finite_is_refused(tmp_path: Path, text: str) -> None:
    """It is never trimmed away."""
    content = lines([episode(0, 0, success=0.123)]).replace(b"0.123", text.encode())
    problem = the_problem(tmp_path, content)

    assert "finite" in problem.message


def test_a_score_out_of_range_is_refused(tmp_path: Path) -> None:
    """A success of 2 is a mistake."""
    problem = the_problem(tmp_path, lines([episode(0, 0, success=2)]))

    assert problem.message == "expected at least 0 and at most 1"


@pytest.mark.parametrize("seed", ["0", 1.5, True, None, 2**70])
def test_a_seed_is_a_whole_number(tmp_path: Path, seed: object) -> None:
    """Text, fractions, booleans and nothing are refused."""
    problem = the_problem(tmp_path, lines([episode(0, 0) | {"seed": seed}]))

    assert (problem.column, problem.message) == ("seed", "expected a whole number of 64 bits")


def test_an_unknown_task_is_refused(tmp_path: Path) -> None:
    """A spike of another axis is not for this benchmark."""
    run = {"schema_version": 2, "axis": "lift", "seeds": [0], "episode_results": [episode(0, 0)]}
    problem = the_problem(tmp_path, json.dumps(run).encode(), "run.json")

    assert problem.message == "not a task of this benchmark; expected place"


def test_an_unknown_condition_is_refused(tmp_path: Path) -> None:
    """Where the manifest declares the conditions there are no others."""
    declared = manifest()
    where = part_of(declared, EpisodesPart).episodes
    assert where is not None
    strict = declared.model_copy(
        update={"part": EpisodesPart(episodes=where.model_copy(update={"conditions": ["left"]}))}
    )
    (problem,) = problems(tmp_path, {"run.jsonl": lines([episode(0, 0, "up")])}, strict, "mover")

    assert (problem.value, problem.message) == ("up", "unknown condition; expected left")


def test_an_unknown_version_of_a_run_is_refused(tmp_path: Path) -> None:
    """What a later version means by its columns is unknown."""
    run = {"schema_version": 9, "axis": "place", "episode_results": [episode(0, 0)]}
    problem = the_problem(tmp_path, json.dumps(run).encode(), "run.json")

    assert (problem.column, problem.value) == ("schema_version", "9")


def test_a_missing_ranking_metric_is_refused(tmp_path: Path) -> None:
    """A misspelt column must not become a board of nulls."""
    records = [{name: cell for name, cell in episode(0, 0).items() if name != "success"}]
    problem = the_problem(tmp_path, lines(records))

    assert problem.column == "success"


def test_a_missing_other_metric_is_a_warning(tmp_path: Path) -> None:
    """Not every run measures everything."""
    records = [{name: cell for name, cell in episode(0, 0).items() if name != "constraint_violation_peak"}]
    evidence = read(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover")

    assert [warning.column for warning in evidence.warnings] == ["violation"]


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    """Three lines, three mistakes."""
    records = [episode(0, 0, success="yes"), episode(0, 1) | {"seed": "x"}, episode(0, 2, member="a\u200b")]
    actual = problems(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover")

    assert [problem.row for problem in actual] == [1, 2, 3]


def test_safety_tables_come_along(tmp_path: Path) -> None:
    """T3 is kept beside the episodes with its numbers."""
    table = "condition,lambda_mean,lambda_var,oracle_lambda_mean\nleft,0.5,0.01,0.4\n"
    evidence = read(tmp_path, {"run.jsonl": lines(episodes()), "safety_t3.csv": table}, manifest(), "mover")

    assert [(t.name, t.rows) for t in evidence.attachments] == [("safety/t3", (("left", 0.5, 0.01, 0.4),))]


def test_a_safety_table_without_a_column_is_refused(tmp_path: Path) -> None:
    """Each missing column is named."""
    files = {"run.jsonl": lines(episodes()), "safety_t3.csv": "condition,lambda_mean\nleft,0.5\n"}
    actual = problems(tmp_path, files, manifest(), "mover")

    assert [problem.column for problem in actual] == ["lambda_var", "oracle_lambda_mean"]


def test_a_negative_count_in_a_safety_table_is_refused(tmp_path: Path) -> None:
    """Nothing happens minus once."""
    table = "assumption,description,violations,n_steps\nA1,holds,-1,10\n"
    (problem,) = problems(tmp_path, {"run.jsonl": lines(episodes()), "safety_t1.csv": table}, manifest(), "mover")

    assert (problem.row, problem.column) == (2, "violations")


def test_a_safety_table_comes_once(tmp_path: Path) -> None:
    """Nobody could say which of two is meant."""
    table = b"condition,lambda_mean,lambda_var,oracle_lambda_mean\nleft,0.5,0.01,0.4\n"
    files = {"run.jsonl": lines(episodes()), "safety_t3.csv": table, "tables.zip": zipped({"safety_t3.csv": table})}
    (problem,) = problems(tmp_path, files, manifest(), "mover")

    assert problem.message == "the submission contains this safety table twice"


def test_a_count_in_a_safety_table_is_whole(tmp_path: Path) -> None:
    """Nothing happens one and a half times."""
    table = "assumption,description,violations,n_steps\nA1,holds,1.5,10\n"
    (problem,) = problems(tmp_path, {"run.jsonl": lines(episodes()), "safety_t1.csv": table}, manifest(), "mover")

    assert (problem.row, problem.column, problem.message) == (2, "violations", "a count is a whole number")


@pytest.mark.parametrize("seed", ["--5", "-", "1_0", "\u0665", "1.0", "9" * 30])
def test_a_seed_in_a_csv_is_written_in_digits(tmp_path: Path, seed: str) -> None:
    """Whatever Python would make of the text."""
    text = (
        f"seed,episode_idx,initial_state_seed,success,constraint_violation_peak,metadata.member\n{seed},0,0,1,0,left\n"
    )
    problem = the_problem(tmp_path, text.encode(), "run.csv")

    assert (problem.row, problem.column, problem.value) == (2, "seed", seed)


def test_a_number_in_a_csv_is_written_in_digits(tmp_path: Path) -> None:
    """An underscore is a mistake, not a thousands separator."""
    text = "seed,episode_idx,initial_state_seed,success,constraint_violation_peak,metadata.member\n0,0,0,1,1_0,left\n"
    problem = the_problem(tmp_path, text.encode(), "run.csv")

    assert problem.column == "constraint_violation_peak"
