"""A dry run says the ranks that the boards show once the same files are submitted, in every kind of evidence."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.cases.lrdbench_http import make_benchmark, part_of, per_series
from tests.cases.small_manifests import EPISODES, PREDICTED, TASKS
from tests.cases.walkthrough import give
from tests.fixtures import Site

NAMES = ("m0", "m1", "m2")
TOLD = ("rank", "rank_low", "rank_high", "may_be_first")


def create(site: Site, manifest: str, labels: str | None = None) -> None:
    """Make a benchmark, with its labels where it has some."""
    created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    if labels is not None:
        files = {"file": ("labels.csv", labels)}
        assert site.http.put("/benchmarks/same/labels", files=files, headers=site.auth("steward")).is_success


def send(site: Site, slug: str, file: tuple[str, str | bytes], entrant: str | None, **query: str) -> dict[str, Any]:
    """Send a file, or have it checked, and return the answer."""
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions",
        params=query,
        files=[("files", file)],
        data={} if entrant is None else {"entrant": entrant},
        headers=site.auth(),
    )
    assert answer.is_success, answer.text
    result: dict[str, Any] = answer.json()
    return result


def told_and_shown(
    site: Site, slug: str, files: Sequence[tuple[str, str | bytes]], entrants: Sequence[str | None]
) -> None:
    """Compare what dry runs say of each file, also of the first, with the boards after it was submitted."""
    for file, entrant in zip(files, entrants, strict=True):
        told = send(site, slug, file, entrant, dry_run="true")["impact"]
        send(site, slug, file, entrant)
        site.work()
        assert told["reason"] is None
        boards = site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"]
        assert [board["board"] for board in told["boards"]] == [board["name"] for board in boards]
        for board in told["boards"]:
            shown = site.http.get(f"/benchmarks/{slug}/leaderboards/{board['board']}.json").json()
            rows = {row["entrant"]: row for row in shown["rows"]}
            for each in board["entrants"]:
                assert {name: each[name] for name in TOLD} == {name: rows[each["entrant"]].get(name) for name in TOLD}
            assert bool(board["entrants"]) == bool(rows)
            assert {move["entrant"]: move["after"] for move in board["moves"]}.items() <= {
                name: row["rank"] for name, row in rows.items()
            }.items()


def test_episodes_are_told_their_ranks(roomy_site: Site) -> None:
    """Of means and interquartile means."""
    draw = random.Random(1)
    files = []
    for strength, _ in enumerate(NAMES):
        lines = [
            f"{subject},{question},{seed},{arm},{int(draw.random() < 0.3 + 0.15 * strength)},{draw.random():.3f}"
            for subject in ("algebra", "geometry") for question in range(6) for seed in range(5) for arm in "xy"
        ]  # fmt: skip
        files.append(("rows.csv", "\n".join(["subject,question,seed,arm,correct,cost", *lines])))
    create(roomy_site, EPISODES.replace("SLUG", "same"))

    told_and_shown(roomy_site, "same", files, NAMES)


def test_summaries_are_told_their_ranks_by_every_method(roomy_site: Site) -> None:
    """Also relative to a baseline, which comes first here."""
    draw = random.Random(2)
    tasks = "[" + ", ".join(f"{{id: t{at}}}" for at in range(9)) + "]"
    files = [
        ("rows.csv", "\n".join(["task,error", *(f"t{at},{draw.random() + strength / 5:.4f}" for at in range(9))]))
        for strength, _ in enumerate(NAMES)
    ]
    create(roomy_site, TASKS.replace("SLUG", "same").replace("TASKS", tasks))
    give(roomy_site, "same", "m0")

    told_and_shown(roomy_site, "same", files, NAMES)


@pytest.mark.parametrize("labels", ["public", "submitted"])
def test_predictions_are_told_their_ranks(roomy_site: Site, labels: str) -> None:
    """Where the labels are no secret: a dry run tells no more than the published rows do."""
    draw = random.Random(3)
    truth = [draw.choice(("no", "yes")) for _ in range(60)]
    manifest = PREDICTED.replace("SLUG", "same").replace("PART", "kind: classification, classes: ['no', 'yes']")
    manifest = manifest.replace("METRICS", "auc: {direction: maximize}").replace("NAMES", "auc")
    files = []
    for strength, _ in enumerate(NAMES):
        lines = [
            f"i{at},{min(1.0, draw.random() * 0.8 + 0.05 * strength * (label == 'yes')):.4f}"
            + (f",{label}" if labels == "submitted" else "")
            for at, label in enumerate(truth)
        ]
        files.append(("p.csv", "\n".join(["item,prediction" + (",label" if labels == "submitted" else ""), *lines])))
    own = None if labels == "submitted" else "\n".join(["item,label", *(f"i{at},{y}" for at, y in enumerate(truth))])
    create(roomy_site, manifest.replace("labels: public", f"labels: {labels}"), own)

    told_and_shown(roomy_site, "same", files, NAMES)


def test_series_are_told_their_ranks(roomy_site: Site) -> None:
    """A real run of lrdbench, an estimator at a time."""
    name = "public_small_canonical_ground_truth"
    named = dict.fromkeys(row["estimator_name"] for row in per_series(name))
    estimators = [each for each in named if "__" not in each][:3]  # the others are comparisons between them
    files = [("run.zip", part_of(name, [each])) for each in estimators]

    told_and_shown(roomy_site, make_benchmark(roomy_site, name), files, [None] * len(files))


def test_private_labels_are_not_probed(roomy_site: Site) -> None:
    """What would be an uncounted attempt is not told, and why."""
    manifest = PREDICTED.replace("SLUG", "same").replace("PART", "kind: classification, classes: ['no', 'yes']")
    manifest = manifest.replace("METRICS", "auc: {direction: maximize}").replace("NAMES", "auc")
    truth = "\n".join(["item,label", *(f"i{at},{'yes' if at % 2 else 'no'}" for at in range(200))])
    create(roomy_site, manifest.replace("labels: public", "labels: private"), truth)
    file = ("p.csv", "\n".join(["item,prediction", *(f"i{at},{at / 200}" for at in range(200))]))
    told = send(roomy_site, "same", file, "m0", dry_run="true")

    assert (told["admitted"], told["impact"]["boards"]) == (True, [])
    assert "nobody counts" in told["impact"]["reason"]
