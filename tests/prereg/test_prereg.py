"""Preregistrations of any form: how the forms are told apart, the keys they share, and the hashes of their bytes."""

import random
import subprocess
from pathlib import Path

import pytest

from app.errors import PreregRejected, Problem
from app.prereg.prereg import git_blob_sha1, parse_prereg
from tests.cases.preregs import AXIS, EVALUATION, FORMS, IID_REFUSED, problems_of, with_key

CHAMBER = Path(__file__).parents[1] / "data" / "chamber_prereg"
CHAMBER_FILES = sorted(CHAMBER.glob("prereg*/*.yaml"))


each_form = pytest.mark.parametrize("form", sorted(FORMS))


@each_form
def test_the_forms_are_told_apart_by_their_keys(form: str) -> None:
    """Each form is recognised without being named; one that says nothing else is for the leaderboard, by cluster
    bootstrap, for which hierarchical is another name, and strict.
    """
    prereg = parse_prereg(FORMS[form].encode())
    alias = parse_prereg(with_key(form, "bootstrap_method: hierarchical").encode())

    assert prereg.form == form
    assert (prereg.run_purpose, prereg.bootstrap_method, prereg.failure_policy) == ("leaderboard", "cluster", "strict")
    assert alias.bootstrap_method == "hierarchical"


@each_form
def test_shared_keys_are_read_in_every_form(form: str) -> None:
    """The six shared keys mean the same in all forms."""
    text = FORMS[form]
    for line in [
        "run_purpose: debug",
        "bootstrap_method: iid",
        "failure_policy: best_effort",
        "notes: n",
        "git_tag: t",
    ]:
        text = "\n".join([own for own in text.splitlines() if not own.startswith(line.split(":")[0])] + [line])
    prereg = parse_prereg(text.encode())

    assert (prereg.run_purpose, prereg.bootstrap_method) == ("debug", "iid")
    assert (prereg.failure_policy, prereg.notes, prereg.git_tag) == ("best_effort", "n", "t")


@each_form
def test_iid_bootstrap_is_refused_for_the_leaderboard(form: str) -> None:
    """The pooled bootstrap understates the spread of clustered episodes, and is refused in the agreed words."""
    (problem,) = problems_of(with_key(form, "bootstrap_method: iid"))

    assert (problem.column, problem.value, problem.message) == ("bootstrap_method", "iid", IID_REFUSED)


@each_form
@pytest.mark.parametrize("purpose", ["power", "debug"])
def test_iid_bootstrap_is_allowed_beside_the_leaderboard(form: str, purpose: str) -> None:
    """Power and debug runs, which are never ranked, may use it."""
    prereg = parse_prereg((with_key(form, "bootstrap_method: iid") + f"\nrun_purpose: {purpose}").encode())

    assert prereg.bootstrap_method == "iid"


@each_form
@pytest.mark.parametrize(
    ("line", "column", "value", "message"),
    [
        ("seeds: []", "seeds", None, "seeds must not be empty"),
        ("seeds: 3", "seeds", "3", "seeds must be a list"),
        ("seeds: [3, 4, 3]", "seeds", "3", "the seed 3 is listed more than once"),
        ("seeds: [3, true]", "seeds.1", "true", "a seed must be an integer"),
        ("seeds: [1.0]", "seeds.0", "1.0", "a seed must be an integer"),
        ("seeds: ['1']", "seeds.0", "1", "a seed must be an integer"),
        ("git_tag: ''", "git_tag", "", "git_tag must not be empty"),
        ("git_tag: ' '", "git_tag", " ", "git_tag must not be empty"),
        ("git_tag: 5", "git_tag", "5", "git_tag must be text"),
        (
            "run_purpose: leaderbord",
            "run_purpose",
            "leaderbord",
            "run_purpose must be one of leaderboard, power, debug; did you mean leaderboard?",
        ),
        ("run_purpose: [power]", "run_purpose", None, "run_purpose must be one of leaderboard, power, debug"),
        (
            "bootstrap_method: pooled",
            "bootstrap_method",
            "pooled",
            "bootstrap_method must be one of cluster, hierarchical, iid",
        ),
        ("failure_policy: lax", "failure_policy", "lax", "failure_policy must be one of strict, best_effort"),
        ("notes: [a]", "notes", None, "notes must be text"),
        (
            "bootstrap_methods: iid",
            "bootstrap_methods",
            "bootstrap_methods",
            "unknown key; did you mean bootstrap_method?",
        ),
    ],
)
def test_each_refusal_has_its_own_message(form: str, line: str, column: str, value: str | None, message: str) -> None:
    """What is wrong with a shared key is said with its line, path and value, in every form."""
    text = with_key(form, line)
    row = len(text.splitlines())

    assert problems_of(text) == (Problem(message, row=row, column=column, value=value),)


def test_a_document_of_no_form_is_told_the_keys_of_each() -> None:
    """Keys that fit no form are answered with those that would."""
    (problem,) = problems_of("title: A plan\nseeds: [1]\n")

    assert problem.message == (
        "no form of preregistration has these keys: the axis form has axis, condition_pair; the document form has "
        "schema_version, schema, task_id, decision_rules; the evaluation form has benchmark, entrants, hypotheses"
    )


def test_keys_of_two_forms_are_refused() -> None:
    """A preregistration cannot be read one way before the run and another way after it."""
    (problem,) = problems_of(AXIS + EVALUATION)

    assert problem.message == (
        "keys of 2 forms in one preregistration: axis, condition_pair (axis form) and benchmark (evaluation form); "
        "register one form"
    )


def test_shared_keys_are_checked_even_without_a_form() -> None:
    """A document of no form still hears what is wrong with the keys that all forms share."""
    problems = problems_of("seeds: [1, 1]\nrun_purpose: fun\n")

    assert [problem.column for problem in problems] == [None, "seeds", "run_purpose"]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("axis: AS", ["condition_pair", "seeds", "episodes_per_seed", "estimator", "git_tag"]),
        ("schema_version: 1", ["task_id", "git_tag", "parameters", "decision_rules"]),
        ("schema: my plan\n", ["schema", "git_tag", "decision_rule"]),
        ("entrants: any", ["benchmark", "metrics"]),
    ],
)
def test_all_missing_keys_are_named(text: str, missing: list[str]) -> None:
    """A form with one key only hears of all the others."""
    assert [problem.column for problem in problems_of(text)] == missing


@pytest.mark.parametrize("text", ["- axis: AS", "AS", "5", "null"])
def test_only_a_mapping_is_a_preregistration(text: str) -> None:
    """Lists and scalars are refused."""
    (problem,) = problems_of(text)

    assert problem.message == "expected a mapping at the top level"


def test_bytes_that_are_no_yaml_are_refused_as_a_preregistration() -> None:
    """What the strict reader refuses arrives as a refused preregistration, with all problems."""
    problems = problems_of(AXIS + "seeds: [1]\nnotes: *later\n")

    assert [problem.column for problem in problems] == ["seeds", "notes"]


def test_more_than_64_kib_are_refused() -> None:
    """A preregistration is a page or two, not a data set."""
    (problem,) = problems_of(AXIS + "notes: " + "x" * 65_536)

    assert problem.message.endswith("at most 65536 are allowed")


def test_problems_come_in_the_order_of_the_text() -> None:
    """All problems are reported at once, from the first line to the last."""
    text = "git_tag: ''\nseeds: [1, 1]\nfoo: 1\nmetrics: []\nbenchmark: A B\nrun_purpose: fun\n"

    assert [problem.row for problem in problems_of(text)] == [1, 2, 3, 4, 5, 6]


def test_the_git_blob_id_is_git_s_own(tmp_path: Path) -> None:
    """The SHA-1 of a file as git stores it is what `git hash-object` says."""
    for position, data in enumerate([b"", b"a: 1\n", b"\x00\xff\r\n", *[path.read_bytes() for path in CHAMBER_FILES]]):
        path = tmp_path / str(position)
        path.write_bytes(data)
        answer = subprocess.run(
            ["git", "hash-object", "--no-filters", path], capture_output=True, check=True, text=True
        )

        assert git_blob_sha1(data) == answer.stdout.strip()


@pytest.mark.heavy
def test_mutated_preregistrations_are_read_or_refused() -> None:
    """Random damage to the values of real files never raises anything but PreregRejected."""
    rng = random.Random(20260706)
    values = ["[]", "{}", "null", "true", "-1", "0.5", "''", "[a, a]", "{a: [1, {seeds: x}]}", "iid", "[[1]]", "power"]
    n_refused = 0
    for _ in range(600):
        lines = rng.choice(CHAMBER_FILES).read_text("utf-8").splitlines()
        keyed = [number for number, line in enumerate(lines) if ": " in line and not line.lstrip().startswith("#")]
        for number in rng.sample(keyed, 2):
            lines[number] = lines[number].split(": ")[0] + ": " + rng.choice(values)
        n_refused += is_refused("\n".join(lines))

    assert 100 < n_refused < 600


def is_refused(text: str) -> bool:
    """Say whether a text is refused as a preregistration."""
    try:
        parse_prereg(text.encode())
    except PreregRejected as refusal:
        return len(refusal.problems) > 0
    return False
