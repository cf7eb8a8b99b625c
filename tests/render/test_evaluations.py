"""What a board's scores lie within, as other sites are told."""

from datetime import UTC, datetime

from app.render.syndication import SnapshotBoards, every_eval_ever, hub_results, model_index
from app.values.table import Column, Table
from tests.cases.evidence_tables import parse

MANIFEST = b"""
schema_version: 1
slug: s
title: S
evidence: evaluation_summary
tasks: [{id: t}]
metrics: {success: {direction: maximize, min: 0, max: 1}}
leaderboards: [{name: b, method: mean, metric: success}]
"""
WITHIN = {
    "success": (0, 1),
    "success_iqm": (0, 1),
    "mean_success": (0, 1),
    "group_mean_success": (0, 1),
    "win_rate": (0, 1),
    "skill_score": ("-Infinity", 1),
    "success_optimality_gap": ("-Infinity", "Infinity"),
}


def test_an_average_of_a_share_is_a_share() -> None:
    """Whoever reads the export scales by the range; what is no average of the metric has none that is declared."""
    ends = {name: (f"{name}_low", f"{name}_high") for name in WITHIN}
    scores = (Column(name, name, direction="maximize", interval=ends[name]) for name in WITHIN)
    columns = (
        Column("entrant", "Entrant", "text"),
        *scores,
        *(Column(end, end) for own in ends.values() for end in own),
    )
    table = Table("leaderboard/b", "B", columns, (("A", *[0.5] * (3 * len(WITHIN))),))
    source = SnapshotBoards(parse(MANIFEST), {"b": table}, 1, datetime(2026, 1, 1, tzinfo=UTC), "1", "http://x/s")
    ((_, document),) = every_eval_ever(source)
    reported = {each["evaluation_result_id"]: each["metric_config"] for each in document["evaluation_results"]}

    assert {name: (reported[f"b/{name}"]["min_score"], reported[f"b/{name}"]["max_score"]) for name in WITHIN} == WITHIN


def test_a_model_card_has_no_score_of_a_part_of_what_is_asked() -> None:
    """It has no place for a remark; where there is one the score is given with it."""
    columns = (Column("entrant", "Entrant", "text"), Column("success", "Success", direction="maximize"),
               Column("unranked_because", "No rank because", "text"))  # fmt: skip
    table = Table("leaderboard/b", "B", columns, (("A", 0.5, None), ("sly", 1.0, "partial")))
    source = SnapshotBoards(parse(MANIFEST), {"b": table}, 1, datetime(2026, 1, 1, tzinfo=UTC), "1", "http://x/s")
    cards = {name: model_index(source, name)["model-index"][0]["results"] for name in ("A", "sly")}

    assert [each["metrics"][0]["value"] for each in cards["A"]] == [0.5]
    assert cards["sly"] == []
    assert [each["notes"] for each in hub_results(source, "sly", "a/b")] == ["unranked_because partial"]
