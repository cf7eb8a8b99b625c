"""The same data in another order, of rows and of submissions: every published number is the same."""

import itertools
import random
import re
from collections.abc import Mapping, Sequence

import pytest

from tests.cases.small_manifests import EPISODES, PREDICTED, TASKS
from tests.cases.walkthrough import give
from tests.fixtures import Site

KINDS = {
    "kind: classification, classes: ['no', 'yes']": ["auc", "accuracy", "logloss", "ap"],
    "kind: ranking": ["ndcg", "map", "precision@1"],
    "kind: regression": ["rmse", "mae"],
}
NUMBERS = itertools.count()
BEST_LOW = ("logloss", "rmse", "mae")

Rows = Sequence[str]


def shuffled(rows: Rows, seed: int) -> list[str]:
    """Return the rows in another order."""
    return random.Random(seed).sample(rows, len(rows))


def published(site: Site, manifest: str, slug: str, files: Mapping[str, str], labels: str | None = None) -> list[str]:
    """Make a benchmark, send a file for each entrant in their order, and return every published CSV."""
    text = manifest.replace("SLUG", slug)
    created = site.http.post("/benchmarks", content=text, headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    if labels is not None:
        put = site.http.put(
            f"/benchmarks/{slug}/labels", files={"file": ("labels.csv", labels)}, headers=site.auth("steward")
        )
        assert put.status_code == 201, put.text
    if "baseline: m0" in text:
        give(site, slug, "m0")
    for entrant, content in files.items():
        sent = site.http.post(f"/benchmarks/{slug}/submissions", files=[("files", ("rows.csv", content))],
                              data={"entrant": entrant}, headers=site.auth())  # fmt: skip
        assert sent.status_code == 202, sent.text
    site.work()
    boards = site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["leaderboards"]
    addresses = [f"{board['name']}{end}" for board in boards for end in (".csv", "/pairwise.csv")]
    answers = [site.http.get(f"/benchmarks/{slug}/leaderboards/{address}") for address in addresses]
    assert [answer.status_code for answer in answers] == [200] * len(addresses)
    return [without_submissions(answer.text) for answer in answers]


def without_submissions(table: str) -> str:
    """Return a CSV without the columns that say which submission a row is from."""
    lines = [line.split(",") for line in table.splitlines()]
    kept = [at for at, name in enumerate(lines[0]) if not name.startswith(("submission", "submitted"))]
    return "\n".join(",".join(line[at] for at in kept) for line in lines if len(line) == len(lines[0]))


def cells(tables: Sequence[str]) -> dict[tuple[int, str, str], str]:
    """Return every cell by table, row and column; a row is named by its first two names."""
    known = {}
    for table, text in enumerate(tables):
        lines = [line.split(",") for line in text.splitlines()]
        names = [at for at, name in enumerate(lines[0]) if name.startswith("entrant")]
        for line in lines[1:]:
            who = " against ".join(line[at] for at in names)
            known |= {(table, who, name): cell for name, cell in zip(lines[0], line, strict=True)}
    return known


OF_ROWS = "precision@1_ydf"
"""YDF breaks ties by the row that comes first: its own number, and the one that rests on the order of the labels."""


def in_both_orders(site: Site, manifest: str, files: Mapping[str, Rows], labels: Rows | None = None) -> None:
    """Publish the same rows twice, and compare byte by byte."""
    first = {name: "\n".join(rows) + "\n" for name, rows in files.items()}
    turned = {name: "\n".join([rows[0], *shuffled(rows[1:], 1)]) + "\n" for name, rows in reversed(files.items())}
    of_labels = (None, None) if labels is None else (labels, [labels[0], *shuffled(labels[1:], 2)])
    texts = [None if each is None else "\n".join(each) + "\n" for each in of_labels]

    one, two = (cells(published(site, manifest, f"order-{next(NUMBERS)}", of, text))
                for of, text in ((first, texts[0]), (turned, texts[1])))  # fmt: skip
    assert [(at, of, two.get(at)) for at, of in one.items() if two.get(at) != of and OF_ROWS not in at[2]] == []


def test_the_order_of_episodes_and_of_submissions_changes_no_byte(shared_site: Site) -> None:
    """Seeds within tasks, 0/1 and real-valued scores, by mean and by interquartile mean."""
    rng = random.Random(3)
    files = {
        f"m{at}": ["subject,question,seed,arm,correct,cost"]
        + [f"{task},q{item},{seed},{arm},{int(rng.random() < 0.5 + at / 10)},{rng.expovariate(1 + at):.5f}"
           for task in ("algebra", "geometry") for item in range(6) for seed in range(5)
           for arm in "xy"]
        for at in range(4)
    }  # fmt: skip
    in_both_orders(shared_site, EPISODES, files)


@pytest.mark.parametrize("tasks", ["{open: true}", "[{id: a}, {id: b}, {id: c}, {id: d}, {id: e}, {id: f}]"])
def test_the_order_of_tasks_and_of_submissions_changes_no_byte(shared_site: Site, tasks: str) -> None:
    """Every method that ranks tables of tasks; with open tasks those that do without a list."""
    rng = random.Random(4)
    files = {
        f"m{at}": ["task,error"] + [f"{task},{rng.expovariate(1 + at / 5):.5f}" for task in "abcdef"] for at in range(5)
    }
    manifest = TASKS.replace("TASKS", tasks)
    if "open" in tasks:
        manifest = "\n".join(line for line in manifest.splitlines() if not re.search("mean_|borda", line))
    in_both_orders(shared_site, manifest, files)


@pytest.mark.parametrize("part", KINDS)
def test_the_order_of_labels_changes_no_byte(shared_site: Site, part: str) -> None:
    """Examples are drawn by their place, so their place is that of their name and not that in the file."""
    rng = random.Random(5)
    metrics = KINDS[part]
    directions = (f"'{name}': {{direction: {'minimize' if name in BEST_LOW else 'maximize'}}}" for name in metrics)
    manifest = PREDICTED.replace("PART", part).replace("METRICS", ", ".join(directions))
    manifest = manifest.replace("NAMES", ", ".join(f"'{name}'" for name in metrics))
    truth = [rng.random() < 0.4 for _ in range(60)]
    words = ("yes", "no") if "classes" in part else ("1", "0")
    is_ranking = "ranking" in part
    labels = ["item,label,group" if is_ranking else "item,label"] + [
        f"i{at},{words[0] if positive else words[1]}" + (f",g{at % 12}" if is_ranking else "")
        for at, positive in enumerate(truth)
    ]
    files = {
        f"m{n}": ["item,prediction"]
        + [f"i{at},{min(1.0, max(0.0, positive / 2 + rng.random() / 2)):.3f}" for at, positive in enumerate(truth)]
        for n in range(3)
    }
    in_both_orders(shared_site, manifest, files, labels)
