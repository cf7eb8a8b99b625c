"""What a manifest has of one kind of evidence alone."""

import pickle

import pytest

from app.errors import ManifestRejected
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.parse import manifest_document, manifest_json_schema, parse_manifest
from app.kinds.predictions.manifest_part import PredictionsPart
from app.kinds.registry import KINDS
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.summary.manifest_part import SummaryPart
from app.manifest.model import Common, KindPart, Manifest, part_of
from tests.cases.chamber import MANIFEST as EPISODES
from tests.cases.predictions import manifest as predictions
from tests.cases.series_runs import benchmark as series

SUMMARY = """
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {MASE: {direction: minimize}}
tasks: {open: true}
leaderboards: [{name: mean, method: mean, metric: MASE}]
"""
PREDICTED = """
schema_version: 1
slug: small
title: Small
evidence: predictions
predictions: {kind: regression}
metrics: {rmse: {direction: minimize}}
tasks: {open: true}
leaderboards: [{name: main, method: estimate, metrics: [rmse]}]
"""
BINARY = "kind: classification, classes: [no, yes]"


def problems_of(text: str) -> list[tuple[str | None, str, str | None]]:
    """Return where, what and which value is wrong with a manifest."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(text.encode())
    return [(problem.column, problem.message, problem.value) for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("manifest", "part"),
    [
        (parse_manifest(SUMMARY.encode()), SummaryPart),
        (parse_manifest(EPISODES), EpisodesPart),
        (series(), SeriesPart),
        (predictions(BINARY), PredictionsPart),
    ],
)
def test_a_manifest_has_the_part_of_its_kind(manifest: Manifest, part: type[KindPart]) -> None:
    """Asked for another one's, it says whose it is; it comes through to the readers' processes as it is."""
    other = EpisodesPart if part is SummaryPart else SummaryPart

    assert isinstance(part_of(manifest, part), part)
    assert pickle.loads(pickle.dumps(manifest)) == manifest  # noqa: S301 -- our own bytes
    with pytest.raises(TypeError, match=f"evidence {manifest.evidence} has no {other.__name__}"):
        part_of(manifest, other)


@pytest.mark.parametrize("value", ["video", "[episodes]", "null"])
def test_an_unknown_kind_is_refused_with_the_known_ones(value: str) -> None:
    """In the words that other closed lists have too; of its keys nothing is said."""
    *others, last = map(repr, KINDS)
    actual = problems_of(f"{SUMMARY.replace('evidence: evaluation_summary', f'evidence: {value}')}mode: bogus\n")

    assert actual == [
        (
            "evidence",
            f"expected {', '.join(others)} or {last}",
            "video" if value == "video" else None,
        )
    ]


@pytest.mark.parametrize(
    ("key", "value", "owner"),
    [
        ("columns", "{task: task}", "evaluation_summary"),
        ("preset", "fev", "evaluation_summary"),
        ("episodes", "{condition: side}", "episodes"),
        *((key, "[]", "series_metrics") for key in ("mode", "estimators", "contamination", "uncertainty")),
    ],
)
def test_a_key_of_another_kind_is_refused(key: str, value: str, owner: str) -> None:
    """It would be ignored, and who wrote it would not learn of it; nothing at all may stand there."""
    actual = problems_of(f"{PREDICTED}{key}: {value}\n")

    assert actual == [(key, f"belongs to evidence of kind {owner}", None)]
    assert parse_manifest(f"{PREDICTED}{key}: null\n".encode()).evidence == "predictions"


def test_problems_come_in_the_order_of_the_keys() -> None:
    """Those of the kind's part between the common ones; an unknown key behind them, a board's last."""
    text = SUMMARY.replace("title: Small", "title: ''").replace("method: mean", "method: meen")
    columns = [column for column, _, _ in problems_of(f"{text}part: {{}}\npreset: fov\nclaims: 1\nadmission: 1\n")]

    assert columns == ["title", "admission", "preset", "claims", "part", "leaderboards.0.method"]


def test_every_rule_that_is_broken_is_named() -> None:
    """Rules of the common keys, of misplaced keys and of the kind's own, each a problem, in this order."""
    text = PREDICTED.replace("rmse: {direction: minimize}", "auc: {direction: maximize}")
    actual = problems_of(f"{text}mode: ground_truth\n")

    assert [(column, message) for column, message, _ in actual[:2]] == [
        ("leaderboards.main", "rmse is not among the declared metrics"),
        ("mode", "belongs to evidence of kind series_metrics"),
    ]
    assert any(c == "metrics.auc" and "no metric of regression predictions" in m for c, m, _ in actual)


def test_a_malformed_part_hides_no_other_rule() -> None:
    """What is wrong with the common keys is said at once."""
    actual = problems_of(PREDICTED.replace("kind: regression", "kind: guess").replace("[rmse]", "[mae]"))

    assert [column for column, _, _ in actual] == ["predictions.kind", "leaderboards.main"]
    assert actual[1][1] == "mae is not among the declared metrics"


def test_what_decides_a_measurement_is_all_but_what_is_shown() -> None:
    """Another part decides; another title, text, rule of admission, claim or board does not."""
    manifest = series()
    decides = manifest.deciding()
    other = manifest.model_copy(update={"part": SeriesPart(mode="observational")})
    shown = {
        "title",
        "description",
        "admission",
        "entrant_fields",
        "claims",
        "leaderboards",
        "nouns",
        "group_by",
        "news",
    }

    assert set(Common.model_fields) - set(decides) == shown
    assert manifest.model_copy(update={"title": "Another"}).deciding() == decides
    assert other.deciding() != decides


def test_a_manifest_is_published_with_the_keys_of_every_kind() -> None:
    """In one order, whatever the kind; those of other kinds are at their defaults."""
    document = manifest_document(predictions(BINARY))
    keys = list(document)

    assert keys[keys.index("admission") + 1 : keys.index("claims")] == [
        key for kind in KINDS.values() for key in kind.part.model_fields
    ]
    assert {"columns", "episodes", "mode", "predictions"} < set(keys)
    assert document["columns"]["entrant"] == "entrant"
    assert document["predictions"]["classes"] == ["no", "yes"]
    assert manifest_document(series())["predictions"] is None


def test_the_schema_has_the_keys_of_every_kind() -> None:
    """None of them is required, as each is of one kind."""
    schema = manifest_json_schema()

    assert {key for kind in KINDS.values() for key in kind.part.model_fields} < set(schema["properties"])
    assert schema["required"] == ["schema_version", "slug", "title", "evidence", "metrics", "tasks", "leaderboards"]
    assert schema["properties"]["evidence"]["enum"] == list(KINDS)


@pytest.mark.parametrize(
    ("changed", "means_the_same"),
    [
        (BINARY, True),
        (f"{BINARY}, positive: 'yes'", True),
        (f"{BINARY}, missing: failure", True),
        (f"{BINARY}, positive: 'no'", False),
        (f"{BINARY}, labels: submitted", False),
        (f"{BINARY}, labels: public", False),
        ("kind: classification, classes: [yes, no]", False),
    ],
)
def test_stored_predictions_mean_the_same_or_not(changed: str, means_the_same: bool) -> None:
    """They hold numbers of classes."""
    assert predictions(BINARY).part.means_the_same(predictions(changed).part) is means_the_same
    assert series().part.means_the_same(SeriesPart(mode="observational"))
