"""What the tests of total publication share: benchmarks of every kind, submissions of strangers, and what must hold.

A sequence of submissions is sent over HTTP and worked off; `settle` says what must be true of every board afterwards.
"""

import io
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from csv import writer
from typing import Any

from hypothesis import strategies as st

from app.errors import Unavailable
from tests.cases.series_runs import COLUMNS
from tests.cases.walkthrough import give
from tests.fixtures import Site

NUMBERS = itertools.count()
FEW = "{n_resamples: 100, rng_seed: 1}"
MANIFEST_REASONS = {reason.value for reason in Unavailable} - {Unavailable.FAULT.value}
ODD = ("0", "0.0", "-0.0", "1e-400", "-1e-400", "5e-324", "1e-308", "1e-160", "1e-50", "1", "1", "1.0", "2.5", "7",
       "1e25", "1e49", "1e50", "")  # fmt: skip
SIGNED = (*ODD, "-1", "-1e50", "-5e-324")
COUNTS = ("", "1", "1.0", "7", "100", "1e3", "1e50")
TASKS = ("t1", "t2", "t3")
MOST_FILES = 4 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 2
"""Of a stranger, each of which is published: `make fuzz` has the time for more."""

SUMMARY = f"""
schema_version: 1
slug: SLUG
title: Total
evidence: evaluation_summary
columns: {{entrant: model, task: task, leaked: leaked, training_time_s: train, inference_time_s: infer, n_forecasts: n}}
metrics: {{E: {{direction: minimize, min: 0}}, S: {{direction: maximize}}, D: {{direction: minimize}}}}
tasks: TASKS
admission: {{prereg: optional}}
leaderboards:
  - {{name: impute, method: skill_score, metric: E, baseline: Base, missing: impute, uncertainty: {FEW}}}
  - {{name: leaky, method: skill_score, metric: E, baseline: Base, leakage_model: Base, missing: impute,
     rank_by: win_rate, normalize_time_per_n_forecasts: 100, uncertainty: {FEW}}}
  - {{name: drop, method: skill_score, metric: E, baseline: Base, missing: drop, clip: [0.1, 100], uncertainty: {FEW}}}
  - {{name: error, method: skill_score, metric: D, baseline: Base, missing: error, uncertainty: {FEW}}}
  - {{name: subset, method: skill_score, metric: E, baseline: Base, missing: impute, tasks: [t3], uncertainty: {FEW}}}
  - {{name: mean, method: mean, metric: S, missing: error, uncertainty: {FEW}}}
  - {{name: dropped, method: mean, metric: D, missing: drop, uncertainty: {FEW}}}
  - {{name: part, method: mean, metric: S, missing: drop, tasks: [t1, t3], uncertainty: {FEW}}}
"""
DECLARED, OPEN = "[{id: t1}, {id: t2}, {id: t3}]", "{open: true}"

EPISODES = f"""
schema_version: 1
slug: SLUG
title: Total
evidence: episodes
episodes: {{condition: metadata.member, task: task}}
tasks: [{{id: place}}, {{id: lift}}]
metrics:
  success: {{direction: maximize, min: 0, max: 1}}
  force: {{direction: minimize}}
  violation: {{direction: minimize, from: force, above: 0}}
admission: {{prereg: optional, failure_policy: best_effort}}
leaderboards:
  - {{name: success, method: estimate, metrics: [success, violation], statistic: mean, uncertainty: {FEW}}}
  - {{name: force, method: estimate, metrics: [force], statistic: iqm, uncertainty: {FEW}}}
  - {{name: lift, method: estimate, metrics: [force], statistic: mean, tasks: [lift], uncertainty: {FEW}}}
"""

SERIES = f"""
schema_version: 1
slug: SLUG
title: Total
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [mae, rmse, bias, coverage@0.95, validity_rate]}}
tasks: {{open: true}}
uncertainty: {{n_resamples: 100}}
leaderboards:
  - {{name: shared, method: weighted_rank, weights: {{mae: 0.5, rmse: 0.5}}, uncertainty: {FEW}}}
  - {{name: ordinal, method: weighted_rank, ranking_rule: 1, weights: {{bias: 0.5, validity_rate: 0.5}},
     uncertainty: {FEW}}}
"""

CLASSES = ("kind: classification, classes: ['no', 'yes'], missing: failure",
           "accuracy auc ap logloss brier f1 precision@recall=0.8")  # fmt: skip
VALUES = ("kind: regression, missing: failure", "rmse mae r2")
RANKS = ("kind: ranking, missing: failure", "ndcg mrr map precision@1")


def predictions(part: str, metrics: str) -> str:
    """Return a benchmark of predictions."""
    errors = ("logloss", "brier", "rmse", "mae")
    names = metrics.split()
    declared = ", ".join(f"{n}: {{direction: {'minimize' if n in errors else 'maximize'}}}" for n in names)
    boards = "\n".join(
        f"  - {{name: b{at}, method: estimate, metrics: [{', '.join([name, *(n for n in names if n != name)])}],"
        f" uncertainty: {FEW}}}"
        for at, name in enumerate(names[:3])
    )
    return f"""
schema_version: 1
slug: SLUG
title: Total
evidence: predictions
metrics: {{{declared}}}
tasks: [{{id: t}}]
admission: {{prereg: optional}}
predictions: {{{part}}}
leaderboards:
{boards}
"""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file."""
    out = io.StringIO()
    written = writer(out, lineterminator="\n")
    written.writerow(header)
    written.writerows(rows)
    return out.getvalue()


SUMMARY_COLUMNS = ("model", "task", "leaked", "E", "S", "D", "train", "infer", "n")


def summary_rows(entrant: str) -> st.SearchStrategy[list[list[str]]]:
    """Return rows of an entrant on some of the tasks."""
    odd, signed = st.sampled_from(ODD), st.sampled_from(SIGNED)
    cells = st.tuples(st.sampled_from(("True", "False")), odd, signed, signed, odd, odd, st.sampled_from(COUNTS)).map(
        list
    )
    tasks = st.sets(st.sampled_from(TASKS), min_size=1).map(sorted)
    return tasks.flatmap(
        lambda names: st.lists(cells, min_size=len(names), max_size=len(names)).map(
            lambda rows: [[entrant, task, *row] for task, row in zip(names, rows, strict=True)]
        )
    )


def summaries() -> st.SearchStrategy[list[str]]:
    """Return files of summaries, each a submission of one or two entrants."""
    entrants = st.sets(st.sampled_from(("A", "B", "Base", "D")), min_size=1, max_size=2).map(sorted)
    files = entrants.flatmap(lambda names: st.tuples(*map(summary_rows, names)))
    return st.lists(
        files.map(lambda result: table(SUMMARY_COLUMNS, itertools.chain(*result))), min_size=1, max_size=MOST_FILES
    )


def good_summary(entrant: str) -> str:
    """Return honest rows on every task."""
    rows = [[entrant, task, "False", 1 + at, 2.0 * at, 3 + at, 10, 5, 100] for at, task in enumerate(TASKS)]
    return table(SUMMARY_COLUMNS, rows)


EPISODE_COLUMNS = ("task", "seed", "episode_idx", "initial_state_seed", "success", "force", "metadata.member")


def episode_files() -> st.SearchStrategy[list[str]]:
    """Return files of episodes: some seeds, some episodes, of one task or both."""
    cell = st.tuples(st.sampled_from(("true", "false", "0", "1", "0.5", "5e-324", "")), st.sampled_from(SIGNED))
    sizes = st.tuples(st.integers(1, 3), st.integers(1, 4), st.sampled_from((("place",), ("lift",), ("place", "lift"))))

    def fill(size: tuple[int, int, tuple[str, ...]]) -> st.SearchStrategy[str]:
        n_seeds, n_episodes, tasks = size
        places = list(itertools.product(tasks, range(n_seeds), range(n_episodes)))
        cells = st.one_of(
            st.lists(cell, min_size=len(places), max_size=len(places)), cell.map(lambda same: [same] * len(places))
        )
        return cells.map(
            lambda result: table(
                EPISODE_COLUMNS,
                [[t, s, e, 100 * s + e, *c, "left"] for (t, s, e), c in zip(places, result, strict=True)],
            )
        )

    return st.lists(sizes.flatmap(fill), min_size=1, max_size=MOST_FILES)


def good_episodes() -> str:
    """Return honest episodes of both tasks."""
    places = itertools.product(("place", "lift"), range(5), range(4))
    return table(EPISODE_COLUMNS, [[t, s, e, 100 * s + e, (s + e) % 2, s + e / 10, "left"] for t, s, e in places])


def run_rows(estimator: str, values: Mapping[tuple[str, str], str]) -> list[tuple[str, ...]]:
    """Return rows of raw/metrics.csv of values by record and metric; odd records are of another stratum."""
    result = []
    for (record, identity), value in values.items():
        metric, _, level = identity.partition("@")
        about = json.dumps({"nominal": float(level)} if level else {})
        stratum = json.dumps({"H": 0.5 if int(record[1:]) % 2 else 0.9})
        result.append(("per_series", record, estimator, metric, value, stratum, about))
    return result


RECORDS = ("r1", "r2", "r3", "r4", "r5")
SERIES_METRICS = ("mae", "rmse", "bias", "coverage@0.95", "validity_rate")


def runs() -> st.SearchStrategy[list[str]]:
    """Return runs of lrdbench, each of one or two estimators on some of the records."""
    small = st.sampled_from(("0", "1", "0.5", "1e-400", "5e-324", ""))

    def of(estimator: str) -> st.SearchStrategy[list[tuple[str, ...]]]:
        places = st.sets(st.sampled_from(tuple(itertools.product(RECORDS, SERIES_METRICS))), min_size=1, max_size=25)
        return places.map(sorted).flatmap(
            lambda result: st.fixed_dictionaries(
                {
                    place: st.sampled_from(SIGNED)
                    if place[1] == "bias"
                    else st.sampled_from(ODD)
                    if place[1] in ("mae", "rmse")
                    else small
                    for place in result
                }
            ).map(lambda values: run_rows(estimator, values))
        )

    names = st.sets(st.sampled_from(("GPH", "RS", "DFA")), min_size=1, max_size=2).map(sorted)
    files = names.flatmap(lambda result: st.tuples(*map(of, result))).map(lambda f: table(COLUMNS, itertools.chain(*f)))
    return st.lists(files, min_size=1, max_size=MOST_FILES)


def good_run(estimator: str) -> str:
    """Return an honest run on every record."""
    values = {
        (record, metric): str(0.1 * at + 0.05 * len(metric) if metric in ("mae", "rmse", "bias") else 1.0)
        for (at, record), metric in itertools.product(enumerate(RECORDS), SERIES_METRICS)
    }
    return table(COLUMNS, run_rows(estimator, values))


ITEMS = tuple(f"i{at}" for at in range(8))


def guesses(allowed: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """Return files of predictions for every item, constant or each its own; an empty one is a failure."""
    cell = st.sampled_from((*allowed, ""))
    cells = st.one_of(
        st.lists(cell, min_size=len(ITEMS), max_size=len(ITEMS)), cell.map(lambda same: [same] * len(ITEMS))
    )
    return st.lists(
        cells.map(lambda result: table(("item", "prediction"), zip(ITEMS, result, strict=True))), min_size=1, max_size=4
    )


def begin(site: Site, manifest: str, labels: str | None = None, base_of: str = "alice") -> str:
    """Make a benchmark of a name of its own, with its labels and somebody who submits its baseline; return the name."""
    slug = f"total-{next(NUMBERS)}"
    created = site.http.post("/benchmarks", content=manifest.replace("SLUG", slug), headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    if "baseline: Base" in manifest:
        give(site, slug, "Base", base_of)
    if labels is not None:
        put = site.http.put(
            f"/benchmarks/{slug}/labels", files={"file": ("labels.csv", labels)}, headers=site.auth("steward")
        )
        assert put.status_code == 201, put.text
    return slug


def send(site: Site, slug: str, name: str, content: str | bytes, who: str = "alice", entrant: str | None = None) -> Any:
    """Send one file and return the answer."""
    return site.http.post(
        f"/benchmarks/{slug}/submissions",
        files=[("files", (name, content))],
        data={} if entrant is None else {"entrant": entrant},
        headers=site.auth(who),
    )


def boards(site: Site, slug: str) -> dict[str, Any]:
    """Return every board of a benchmark as JSON, by its name."""
    manifest = site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]
    result = {}
    for spec in manifest["leaderboards"]:
        answer = site.http.get(f"/benchmarks/{slug}/leaderboards/{spec['name']}.json")
        assert answer.status_code == 200, answer.text
        result[spec["name"]] = json.loads(answer.text, parse_constant=_refuse_constant)
    return result


def _refuse_constant(text: str) -> float:
    raise AssertionError(f"{text} in a published document")


def settle(
    site: Site, slug: str, numbers: Sequence[int], honest: Sequence[str], *, has_base: bool = True
) -> dict[str, Any]:
    """Work everything off and check the boards by the rule: published, with the honest, and nobody waiting.

    Where the stranger was given the baseline (not `has_base`), who has more tasks than it has to wait for it.
    """
    site.work()
    about = site.http.get(f"/benchmarks/{slug}.json").json()
    assert (about["publish_error"], about["stale"]) == (None, False)
    for number in numbers:
        stored = site.http.get(f"/submissions/{number}.json").json()
        assert stored["waiting_for"] is None, stored
        assert "fault of this server" not in stored["reason"], stored["reason"]
    assert site.http.get(f"/benchmarks/{slug}").status_code == 200
    result = boards(site, slug)
    for name, board in result.items():
        waits = not has_base and any("The baseline Base has no result for" in note for note in board["notes"])
        _check_board(name, board, () if waits else honest)
    return result


def _check_board(name: str, board: Mapping[str, Any], honest: Sequence[str]) -> None:
    meta = board["meta"]
    if "unavailable" in meta:
        assert meta["unavailable_reason"] in MANIFEST_REASONS, (name, meta)
        return
    assert not [note for note in board["notes"] if "cannot be computed" in note], (name, board["notes"])
    assert set(honest) <= {row["entrant"] for row in board["rows"]}, (name, board["notes"])
