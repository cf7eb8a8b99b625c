"""The document form: CHAMBER's nine documents, and the rules wherever in them they apply."""

import time
from pathlib import Path

import pytest

from app.prereg.prereg import parse_prereg
from tests.cases.preregs import IID_REFUSED, problems_of, with_key

CHAMBER = Path(__file__).parents[1] / "data" / "chamber_prereg" / "prereg_doc"

SELF_DESCRIBED = """
schema: my_plan/v1
git_tag: prereg-3
stage: pilot
decision_rule: {delta: 0.2, seeds: [0, 1], episodes_per_seed: 12, bootstrap: {method: paired_cluster_bootstrap}}
"""

ADMISSION_SEEDS = (90000, 90001, 90002, 90003, 90004)
STAGE_1_SEEDS = (91000, 91001, 91002, 91003, 91004)


@pytest.mark.parametrize(
    ("name", "task", "seeds", "episodes_per_seed"),
    [
        ("cocarry_admission", "cocarry", ADMISSION_SEEDS, 12),
        ("cocarry_admission_a4", "cocarry", ADMISSION_SEEDS, 12),
        ("cocarry_admission_a4_rev2", "cocarry", ADMISSION_SEEDS, 12),
        ("cocarry_baselines_v1", "cocarry", (0, 1, 2, 3, 4), 50),
        ("coinsert_s0", None, None, None),
        ("gate0", None, tuple(range(20)), 20),
        ("handover_baselines_v1", "handover_place", (0, 1, 2, 3, 4), 50),
        ("handover_place_admission", "handover_place", (0, 1, 2, 3, 4), 20),
        ("stage1_pickplace_as_admission", "stage1_pickplace_as", STAGE_1_SEEDS, 12),
    ],
)
def test_the_given_files_are_read(
    name: str, task: str | None, seeds: tuple[int, ...] | None, episodes_per_seed: int | None
) -> None:
    """Each registered document is read, with the seeds and episodes of its measured run."""
    prereg = parse_prereg((CHAMBER / f"{name}.yaml").read_bytes())

    assert (prereg.form, prereg.run_purpose, prereg.bootstrap_method) == ("document", "leaderboard", "cluster")
    assert prereg.tasks == (None if task is None else (task,))
    assert (prereg.seeds, prereg.episodes_per_seed) == (seeds, episodes_per_seed)


def test_a_campaign_declares_its_entrants_and_partners() -> None:
    """The rows of a baseline campaign are its entrants, the evaluated members its conditions."""
    prereg, handover = (
        parse_prereg((CHAMBER / f"{name}_baselines_v1.yaml").read_bytes()) for name in ("cocarry", "handover")
    )
    gate = parse_prereg((CHAMBER / "gate0.yaml").read_bytes())

    # B-JOINT is evaluated as the pair it trained as; no row of the handover campaign is.
    assert (prereg.own_partner, handover.own_partner) == (("B-JOINT",), ())
    assert gate.conditions == ("handover_matched_reference", "handover_presentation_mismatch")
    assert prereg.entrants == ("REF-SCRIPT", "B-RND", "B-STAT", "B-BLIND", "B-AHT", "B-JOINT")
    assert prereg.conditions == (
        "imp_stiff_low",
        "imp_stiff_high",
        "imp_damp_low",
        "imp_damp_high",
        "imp_lag_bounded",
        "imp_blend_b",
        "imp_blend_c",
    )


def test_a_self_described_document_may_have_keys_of_its_own() -> None:
    """A document with a schema of its own has outer keys of its own."""
    prereg = parse_prereg(SELF_DESCRIBED.encode())

    assert (prereg.seeds, prereg.episodes_per_seed) == ((0, 1), 12)
    assert prereg.document["stage"] == "pilot"


@pytest.mark.parametrize(
    ("place", "column"),
    [
        ("{bootstrap_method: iid}", "bootstrap_method"),
        ("{evaluation: {bootstrap_method: iid_bootstrap}}", "evaluation.bootstrap_method"),
        ("{evaluation: {bootstrap: {method: IID}}}", "evaluation.bootstrap.method"),
        ("{evaluation: {bootstrap: iid}}", "evaluation.bootstrap"),
        ("{cells: [{a: 1}, {bootstrap: [{method: iid}]}]}", "cells.1.bootstrap.0.method"),
        ("{metrics: {estimators: IQM + 95% iid bootstrap CIs per row}}", "metrics.estimators"),
        ("{run_purpose: leaderboard, bootstrap_method: iid}", "bootstrap_method"),
    ],
)
def test_iid_bootstrap_is_refused_wherever_it_is_declared(place: str, column: str) -> None:
    """The document form is bound by the rule, however deep its parameters declare the method."""
    (problem,) = problems_of(with_key("document", f"parameters: {place}"))

    assert (problem.column, problem.value, problem.message) == (f"parameters.{column}", "iid", IID_REFUSED)


@pytest.mark.parametrize(
    "parameters",
    [
        "{power_pilot: {run_purpose: power, bootstrap_method: iid}}",
        "{power_pilot: {run_purpose: debug, bootstrap: {method: iid}}}",
        "{metrics: {estimators: 'cluster CIs; no iid bootstrap anywhere'}}",
        "{solver: {method: adam}}",
        "{sensor: {noise: iid}}",
        "{estimator: cluster bootstrap rather than an iid one}",
        "{analysis: an iid bootstrap is never reported}",
    ],
)
def test_what_is_no_leaderboard_bootstrap_is_left_alone(parameters: str) -> None:
    """A pilot under its own run purpose, a denial and another method are not refused."""
    prereg = parse_prereg(with_key("document", f"parameters: {parameters}").encode())

    assert prereg.bootstrap_method == "cluster"


@pytest.mark.parametrize(
    ("form", "text", "column"),
    [
        ("described", "bootstrap: iid", "bootstrap"),
        ("described", "resampling: iid", "resampling"),
        ("described", "ci_method: I.I.D.", "ci_method"),
        ("described", "analysis: {method: iid_bootstrap}", "analysis.method"),
        ("described", "uncertainty: [{kind: iid}]", "uncertainty.0.kind"),
        ("described", "iid: true", "iid"),
        ("document", "parameters: {solver: {method: iid}}", "parameters.solver.method"),
        ("document", "decision_rules: PASS iff the iid CI-lower is above 0.95", "decision_rules"),
        ("document", "parameters: {ci: episodes are independent and identically distributed}", "parameters.ci"),
    ],
)
def test_iid_is_refused_under_any_key(form: str, text: str, column: str) -> None:
    """The rule goes by the word, not by the place where somebody puts it."""
    document = SELF_DESCRIBED + text if form == "described" else with_key("document", text)
    actual = problems_of(document)

    assert [(problem.column, problem.message) for problem in actual] == [(column, IID_REFUSED)]


def test_a_run_purpose_is_said_once() -> None:
    """A leaderboard registration whose evaluation calls itself a power run could be either, as it turns out."""
    text = "parameters: {evaluation: {run_purpose: power, bootstrap_method: iid}}"
    actual = {problem.column: problem.message for problem in problems_of(with_key("document", text))}

    assert actual["parameters.evaluation.run_purpose"].startswith("the run purpose of the registration is leaderboard")
    assert actual["parameters.evaluation.bootstrap_method"] == IID_REFUSED


def test_the_bootstrap_method_of_the_parameters_counts() -> None:
    """A method that only the parameters declare is the registered one."""
    parameters = (
        "parameters: {pilot: {run_purpose: power, bootstrap_method: iid}, evaluation: {bootstrap: hierarchical}}"
    )

    assert parse_prereg(with_key("document", parameters).encode()).bootstrap_method == "hierarchical"


def test_a_bootstrap_method_that_is_not_known_is_refused() -> None:
    """Any other word could be iid by another name."""
    (problem,) = problems_of(with_key("document", "parameters: {bootstrap: {method: pooled}}"))

    assert (problem.column, problem.value) == ("parameters.bootstrap.method", "pooled")
    assert problem.message == "a bootstrap method must be one of cluster, hierarchical, iid"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("schema_version: 2", "schema_version", "unknown schema_version; known is 1"),
        ("schema_version: true", "schema_version", "unknown schema_version; known is 1"),
        ("schema_version: '1'", "schema_version", "unknown schema_version; known is 1"),
        ("task_id: ''", "task_id", "task_id must not be empty"),
        ('task_id: "a\\u200bb"', "task_id", "task_id must be printable"),
        ("parameters: {}", "parameters", "parameters must not be empty"),
        ("parameters: [a]", "parameters", "parameters must be a mapping"),
        ("decision_rules: ' '", "decision_rules", "decision_rules must not be empty"),
        ("decision_rules: 5", "decision_rules", "decision_rules must be text, a mapping or a list"),
        ("parameter: {}", "parameter", "unknown key; did you mean parameters?"),
        ("parameters: {run_purpose: fun}", "parameters.run_purpose", "run_purpose must be one of"),
        ("parameters: {training: {seeds: [1, 1]}}", "parameters.training.seeds", "the seed 1 is listed more than once"),
        ("parameters: {extension_seeds: [a]}", "parameters.extension_seeds.0", "a seed must be an integer"),
        ("parameters: {evaluation: {eval_seeds: 5}}", "parameters.evaluation.eval_seeds", "eval_seeds must be a list"),
        ("parameters: {admission: {seeds: []}}", "parameters.admission.seeds", "seeds must not be empty"),
        (
            "parameters: {admission: {episodes_per_seed: 0}}",
            "parameters.admission.episodes_per_seed",
            "episodes_per_seed must be a whole number of at least 1",
        ),
        ('parameters: {rows: {"B\\u200b": {}}}', "parameters.rows.B\\x200b", "a row names an entrant"),
        ("parameters: {partner_grid: {eval_members: [a, a]}}", "parameters.partner_grid.eval_members", "the name a is"),
    ],
)
def test_each_refusal_has_its_own_message(line: str, column: str, message: str) -> None:
    """What is wrong is said at the key that is wrong, also deep in the parameters."""
    (problem,) = problems_of(with_key("document", line))

    assert problem.column == column
    assert problem.message.startswith(message)


def test_two_lists_of_seeds_must_agree() -> None:
    """A document cannot register two sets of seeds and choose between them after the run."""
    text = with_key("document", "parameters: {evaluation: {eval_seeds: [0, 1]}}") + "\nseeds: [0, 1, 2]"
    (problem,) = problems_of(text)

    assert problem.column == "parameters.evaluation.eval_seeds"
    assert problem.message == "the seeds differ from those at seeds"


def test_the_same_seeds_may_be_declared_twice() -> None:
    """Two places that agree are no contradiction, in whatever order they list the seeds."""
    text = with_key("document", "parameters: {evaluation: {eval_seeds: [0, 1]}}") + "\nseeds: [1, 0]"

    assert parse_prereg(text.encode()).seeds == (1, 0)


def test_a_self_described_document_may_have_several_rules() -> None:
    """Its rules may stand under either name."""
    prereg = parse_prereg(b"schema: my_plan/v1\ngit_tag: prereg-3\ndecision_rules: [All rows ship.]\n")

    assert prereg.form == "document"


def test_a_slip_in_a_shared_key_is_refused_in_open_documents() -> None:
    """A misspelt rule is not taken for a key of the author's own."""
    (problem,) = problems_of(SELF_DESCRIBED + "run_purpos: power\n")

    assert (problem.column, problem.message) == ("run_purpos", "unknown key; did you mean run_purpose?")


def test_a_text_that_denies_it_thousands_of_times_is_read_in_seconds() -> None:
    """As long as a document may be: each denial is looked for among the words beside it, and not in all of the text."""
    document = f"schema: long/v1\ngit_tag: v1\ndecision_rule: {{analysis: {'no iid ' * 9_000}}}\n".encode()
    began_s = time.process_time()
    assert parse_prereg(document).bootstrap_method == "cluster"
    assert time.process_time() - began_s < 4.0
