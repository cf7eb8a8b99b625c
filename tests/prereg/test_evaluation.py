"""The evaluation form: ours, for summary and prediction benchmarks."""

import pytest

from app.prereg.fields import Hypothesis
from app.prereg.prereg import parse_prereg
from tests.cases.preregs import EVALUATION, problems_of, with_key

FULL = """
benchmark: fev-bench
entrants: [TiRex, Chronos-Bolt]
tasks: [ETT_15T, m5_1D]
conditions: [clean, shifted]
metrics: [SQL, coverage@0.95]
hypotheses:
  - {contrast: [TiRex, Chronos-Bolt], metric: SQL, threshold: -0.02, direction: less}
  - {contrast: [Chronos-Bolt, TiRex], metric: SQL, threshold: 0}
analysis: {resampling: tasks}
seeds: [1, 2]
"""


def test_everything_that_is_declared_is_read() -> None:
    """All keys of the form arrive as values."""
    prereg = parse_prereg(FULL.encode())

    assert prereg.benchmark == "fev-bench"
    assert prereg.entrants == ("TiRex", "Chronos-Bolt")
    assert prereg.tasks == ("ETT_15T", "m5_1D")
    assert prereg.conditions == ("clean", "shifted")
    assert prereg.metrics == ("SQL", "coverage@0.95")
    assert prereg.seeds == (1, 2)
    assert prereg.hypotheses == (
        Hypothesis(("TiRex", "Chronos-Bolt"), "SQL", -0.02, "less"),
        Hypothesis(("Chronos-Bolt", "TiRex"), "SQL", 0.0, "greater"),
    )


def test_what_is_left_out_stays_open() -> None:
    """Benchmark and metrics are enough; any entrant may run any task, which the words `any` and `all` say too."""
    for more in ("", "entrants: any\ntasks: all\n"):
        prereg = parse_prereg((EVALUATION + more).encode())

        assert (prereg.entrants, prereg.tasks, prereg.seeds, prereg.hypotheses) == (None, None, None, ())


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("benchmark: Fev Bench", "benchmark", "benchmark must be lower-case letters, digits and inner hyphens"),
        ("benchmark: ''", "benchmark", "benchmark must not be empty"),
        ("metrics: []", "metrics", "metrics must not be empty"),
        ("metrics: SQL", "metrics", "metrics must be a list"),
        ("metrics: [SQL, SQL]", "metrics", "the name SQL is listed more than once"),
        ("metrics: [1a]", "metrics.0", "not a name: letters, digits and _ . @ = -"),
        ("entrants: []", "entrants", "entrants must not be empty"),
        ("entrants: TiRex", "entrants", "entrants must be the word any or a list of names"),
        ('entrants: ["a\\u200b"]', "entrants.0", "not a name: printable text"),
        ("entrants: [7]", "entrants.0", "not a name: printable text"),
        ("entrants: [A, A]", "entrants", "the name A is listed more than once"),
        ("tasks: some", "tasks", "tasks must be the word all or a list of names"),
        ("analysis: ''", "analysis", "analysis must not be empty; leave the key out"),
        ("analysis: 5", "analysis", "analysis must be text, a mapping or a list"),
        ("hypotheses: []", "hypotheses", "hypotheses must not be empty"),
        ("hypotheses: [A beats B]", "hypotheses.0", "each of hypotheses must be a mapping"),
        ("entrant: [A]", "entrant", "unknown key; did you mean entrants?"),
    ],
)
def test_each_refusal_has_its_own_message(line: str, column: str, message: str) -> None:
    """What is wrong is said at the key that is wrong."""
    (problem,) = problems_of(with_key("evaluation", line))

    assert problem.column == column
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("hypothesis", "column", "message"),
    [
        ("contrast: [A], metric: SQL, threshold: 0", "contrast", "contrast must have two names"),
        ("contrast: [A, B, C], metric: SQL, threshold: 0", "contrast", "contrast must have two names"),
        ("contrast: [A, A], metric: SQL, threshold: 0", "contrast", "the name A is listed more than once"),
        ("contrast: [A, B], metric: MASE, threshold: 0", "metric", "the metric is not among metrics: SQL"),
        ("contrast: [A, B], metric: SQL", "threshold", "the key threshold is required"),
        ("contrast: [A, B], metric: SQL, threshold: yes", "threshold", "threshold must be a number"),
        ("contrast: [A, B], metric: SQL, threshold: true", "threshold", "threshold must be a number"),
        (
            "contrast: [A, B], metric: SQL, threshold: 0, direction: up",
            "direction",
            "direction must be one of greater, less",
        ),
        (
            "contrast: [A, B], metric: SQL, threshold: 0, treshold: 1",
            "treshold",
            "unknown key; did you mean threshold?",
        ),
    ],
)
def test_each_refusal_of_a_hypothesis_has_its_own_message(hypothesis: str, column: str, message: str) -> None:
    """A claim that cannot be judged is refused before anything is run for it."""
    (problem,) = problems_of(with_key("evaluation", f"hypotheses: [{{{hypothesis}}}]"))

    assert problem.column == f"hypotheses.0.{column}"
    assert problem.message.startswith(message)


def test_the_problems_of_every_hypothesis_are_found() -> None:
    """One bad claim does not hide the next; each is placed on its own line."""
    problems = problems_of(EVALUATION + "hypotheses:\n- contrast: [A]\n  metric: SQL\n  threshold: 0\n- metric: SQL\n")

    assert [(problem.row, problem.column) for problem in problems] == [
        (5, "hypotheses.0.contrast"),
        (8, "hypotheses.1.contrast"),
        (8, "hypotheses.1.threshold"),
    ]
