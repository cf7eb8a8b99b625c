"""What a new version of a manifest may not say, such as claims of nothing; a stored one is read all the same."""

import pytest

from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest, parse_new_manifest
from tests.cases.chamber import MANIFEST

ARMS = "episodes: {condition: arm, conditions: [left, right], item: [trial], task: task}"


def manifest(claim: str) -> bytes:
    """Return a benchmark with two conditions and one claim."""
    return f"""
schema_version: 1
slug: arms
title: Arms
evidence: episodes
metrics: {{success: {{direction: maximize, min: 0, max: 1}}}}
tasks: [{{id: place}}]
{ARMS}
claims: {{c: {{{claim}}}}}
leaderboards: [{{name: b, method: estimate, metrics: [success]}}]
""".encode()


@pytest.mark.parametrize(
    ("claim", "column", "expected"),
    [
        (
            "contrast: [left, zz], metric: success, threshold: 0",
            "claims.c.contrast",
            "two of the conditions left, right",
        ),
        ("contrast: [left, left], metric: success, threshold: 0", "claims.c.contrast", "compares one with itself"),
        ("contrast: [left, right], metric: nometric, threshold: 0", "claims.c.metric", "one of the metrics success"),
        ("contrast: [left], metric: success, threshold: -5", "claims.c.threshold", "a number from 0 to 1"),
        ("contrast: [left, right], metric: success, threshold: 1.5", "claims.c.threshold", "a number from -1 to 1"),
    ],
)
def test_a_claim_that_decides_nothing_is_refused_with_its_line(claim: str, column: str, expected: str) -> None:
    """With what is allowed; a version that is stored is older than the rule."""
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(manifest(claim))
    (problem,) = refused.value.problems

    assert (problem.column, problem.row) == (column, 9)
    assert expected in problem.message
    assert list(parse_manifest(manifest(claim)).claims) == ["c"]


@pytest.mark.parametrize("text", ['"a\\u202eb"', "a\u202eb", '"a\\ab"', '"a\\vb"'])
@pytest.mark.parametrize(
    ("old", "new", "column", "row"),
    [
        ("title: Arms", "title: {}", "title", 4),
        ("title: Arms", "title: Arms\ndescription: {}", "description", 5),
        ("[{id: place}]", "[{{id: place, about: {{x: {}}}}}]", "tasks.0.about.x", 7),
        ("[{id: place}]", "[{{id: place, about: {{{}: x}}}}]", "tasks.0.about", 7),
        ("[success]}", "[success], labels: {{x: {}}}}}", "leaderboards.0.labels.x", 10),
    ],
)
def test_a_text_that_is_not_shown_as_it_is_is_refused_with_its_line(
    text: str, old: str, new: str, column: str, row: int
) -> None:
    """As the new title or description of a benchmark is; in several lines, with tabs, a text may be."""
    good = manifest("contrast: [left, right], metric: success, threshold: 0").decode()
    given = good.replace(old, new.format(text)).encode()
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(given)

    assert [(problem.column, problem.row) for problem in refused.value.problems] == [(column, row)]
    assert parse_manifest(given).slug == "arms"
    assert parse_new_manifest(good.replace(old, new.format('"of\\n\\tlines: Größe, 大小"')).encode()).slug == "arms"


@pytest.mark.parametrize("contrast", ["[left, right]", "[right]", "[A, B]", "[A]"])
def test_conditions_and_entrants_may_be_claimed_about(contrast: str) -> None:
    """Names that are no conditions may be entrants that come later."""
    claim = f"contrast: {contrast}, metric: success, threshold: 0.1"

    assert list(parse_new_manifest(manifest(claim)).claims) == ["c"]
    assert parse_new_manifest(MANIFEST) == parse_manifest(MANIFEST)


@pytest.mark.parametrize("key", ["conditions", "against"])
def test_a_composite_of_an_undeclared_condition_is_refused_with_its_line(key: str) -> None:
    """Nobody could send rows of it, so the board would have no score."""
    sides = {"conditions": "left", "against": "right", key: "lefd"}
    composite = f"composite: {{weights: {{place: 1}}, {', '.join(f'{k}: {{place: {v}}}' for k, v in sides.items())}}}"
    text = manifest("contrast: [left], metric: success, threshold: 0.1")
    text = text.replace(b"metrics: [success]}", f"metrics: [success], {composite}}}".encode())

    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(text)
    (problem,) = refused.value.problems

    assert (problem.column, problem.row, problem.value) == (f"leaderboards.b.composite.{key}.place", 10, "lefd")
    assert "one of the conditions left, right" in problem.message
    assert parse_manifest(text).leaderboards[0].name == "b"


@pytest.mark.parametrize(
    ("absent", "missing"), [("worst", "impute"), ("worst", "drop"), ("worst", "error"), ("unranked", "drop")]
)
def test_two_rules_for_absent_results_are_refused_with_their_line(absent: str, missing: str) -> None:
    """Scores would follow one and ranks the other."""
    text = f"""
schema_version: 1
slug: skills
title: Skills
evidence: evaluation_summary
metrics: {{error: {{direction: minimize, min: 0, max: 9}}}}
tasks: [{{id: a}}, {{id: b}}]
grid: {{absent: {absent}}}
leaderboards:
  - {{name: b, method: skill_score, metric: error, baseline: base, missing: {missing}}}
""".encode()
    assert parse_manifest(text).leaderboards[0].name == "b"
    if absent == "unranked" or missing == "error":
        parse_new_manifest(text)
        return
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(text)
    (problem,) = refused.value.problems

    assert (problem.column, problem.row, problem.value) == ("leaderboards.b.missing", 10, missing)
    assert "expected error, or no worst" in problem.message


@pytest.mark.parametrize("smallest", ["0.99", "1", "30"])
def test_a_difference_that_matters_is_one_that_two_can_have(smallest: str) -> None:
    """Of skill scores it is a relative skill, below 1; a version of before said it in the difference of two skills."""
    text = f"""
schema_version: 1
slug: skills
title: Skills
evidence: evaluation_summary
metrics: {{error: {{direction: minimize}}}}
tasks: [{{id: a}}, {{id: b}}]
leaderboards:
  - {{name: b, method: skill_score, metric: error, baseline: base, smallest_difference: {smallest}}}
""".encode()
    assert parse_manifest(text).leaderboards[0].smallest_difference == float(smallest)
    if smallest == "0.99":
        parse_new_manifest(text)
        return
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(text)
    (problem,) = refused.value.problems

    assert (problem.column, problem.row, problem.value) == ("leaderboards.b.smallest_difference", 9, smallest)
    assert "expected less than 1" in problem.message


BOARDS = {
    "mean": "method: mean, metric: score",
    "group": "method: group_mean, metric: score, groups: {x: [a], y: [b]}",
    "estimate": "method: estimate, metrics: [score]",
}


@pytest.mark.parametrize("of", BOARDS)
@pytest.mark.parametrize("smallest", ["19.9", "20", "21"])
def test_a_difference_that_matters_is_within_the_range_of_the_metric(of: str, smallest: str) -> None:
    """No two could differ by the whole of it: all pairs would be equivalent by what the manifest says alone."""
    kind = "episodes" if of == "estimate" else "evaluation_summary"
    text = f"""
schema_version: 1
slug: ranges
title: Ranges
evidence: {kind}
metrics: {{score: {{direction: maximize, min: -10, max: 10}}}}
tasks: [{{id: a}}, {{id: b}}]
leaderboards:
  - {{name: b, {BOARDS[of]}, smallest_difference: {smallest}}}
""".encode()
    if smallest == "19.9":
        parse_new_manifest(text)
        return
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(text)
    (problem,) = refused.value.problems

    assert (problem.column, problem.row, problem.value) == ("leaderboards.b.smallest_difference", 9, smallest)
    assert problem.message == "expected less than 20: it is a difference of score, from -10 to 10"


def test_a_board_that_counts_a_task_twice_is_refused_with_its_line() -> None:
    """Twice the same results would be twice the evidence; a stored version is read as if it were there once."""
    twice = manifest("contrast: [left], metric: success, threshold: 0.5").replace(
        b"metrics: [success]", b"metrics: [success], tasks: [place, place]"
    )
    with pytest.raises(ManifestRejected) as refused:
        parse_new_manifest(twice)
    (problem,) = refused.value.problems

    assert (problem.column, problem.row, problem.value) == ("leaderboards.0.tasks", 10, "place")
    assert "listed twice" in problem.message
    assert parse_manifest(twice).leaderboards[0].tasks == ["place"]
