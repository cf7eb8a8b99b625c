"""What one submitter learns of private labels by every known trick: `python -m bench.label_attack [quick] [ATTACK …]`.

Each attack runs over HTTP against the whole server three times: where labels are public, where they are private with
quotas that stop nobody, and where they are private by the defaults. The attacker knows which items are public, guesses
`no` where nothing is told, and half of the labels are `no`. Prints the table of docs/statistics.md.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sqlalchemy import select

from app.config import Settings
from app.db.embedded import running_server
from app.db.migrate import upgrade
from app.db.models import LabelPart
from bench.chosen import chosen
from tests.cases.label_attacks import ATTACKS, Attacker, values_by_rmse
from tests.cases.secret_labels import SLUG, begin, manifest, words
from tests.fixtures import Site, new_database, open_site, passing_folder

N_ITEMS, ASKED = 200, 40
BY_RMSE, CLOSE = "one file, real-valued labels by RMSE", 0.1
GENEROUS = "public_share: 0.5, per_day: 1000, entrants_per_submission: 1000"
HEAD = ("attack", "labels public", "quotas for all, public part", "quotas for all, private part", "answers shown",
        "bits at most", "defaults, public part", "defaults, private part")  # fmt: skip


def main() -> None:
    """Print a row for each attack, or for those that are named."""
    wanted = chosen([word for word in sys.argv[1:] if word != "quick"], [*ATTACKS, BY_RMSE])
    n_items, asked = (60, 12) if "quick" in sys.argv[1:] else (N_ITEMS, ASKED)
    print("|", " | ".join(HEAD), "|")
    print("|---" * len(HEAD) + "|")
    with passing_folder() as folder, running_server(folder) as url, new_database(url) as template:
        upgrade(template)
        for name in wanted:
            row = (
                _row_of_values(url, template, n_items, asked)
                if name == BY_RMSE
                else _row(url, template, name, n_items, asked)
            )
            print("|", " | ".join([name, *row]), "|", flush=True)


def _row(url: str, template: str, name: str, n_items: int, asked: int) -> Iterator[str]:
    metric = ATTACKS[name][1]
    open_labels = manifest(None, (metric,)).replace("labels: private", "labels: public")
    yield _attack(url, template, name, open_labels, n_items, asked)[0]
    _, of_public, of_private, reported = _attack(url, template, name, manifest(GENEROUS, (metric,)), n_items, asked)
    yield from (of_public, of_private, *reported)
    yield from _attack(url, template, name, manifest(None, (metric,)), n_items, asked)[1:3]


def _row_of_values(url: str, template: str, n_items: int, asked: int) -> Iterator[str]:
    """Yield the cells of labels from a normal distribution; right is within a tenth of its standard deviation."""
    kinds = [None, GENEROUS, None]
    documents = [manifest(scoring, ("rmse",), "kind: regression") for scoring in kinds]
    documents[0] = documents[0].replace("labels: private", "labels: public")
    result = [_attack_values(url, template, document, n_items, asked) for document in documents]
    yield result[0][0]
    yield from (*result[1][1:3], *result[1][3], *result[2][1:3])


def _attack_values(url: str, template: str, document: str, n_items: int, asked: int) -> Any:
    labels = np.random.default_rng(6).normal(size=n_items)
    with _site(url, template) as site:
        begin(site, document, labels.tolist())
        public = _public(site, n_items)
        result = values_by_rmse(Attacker(site, n_items, public, asked))
        right = {at: abs(result[at] - labels[at]) < CLOSE for at in result}
        return _result(site, document, right, public)


def _attack(url: str, template: str, name: str, document: str, n_items: int, asked: int) -> Any:
    labels = np.random.default_rng(5).permutation(np.arange(n_items) % 2 == 0)
    with _site(url, template) as site:
        begin(site, document, words(labels))
        public = _public(site, n_items)
        try:
            guesses = ATTACKS[name][0](Attacker(site, n_items, public, asked))
        except KeyError:  # refused, so there is nothing to look at
            guesses = dict.fromkeys(range(asked), False)
        right = {at: bool(guesses[at] == labels[at]) for at in guesses}
        return _result(site, document, right, public)


@contextmanager
def _site(url: str, template: str) -> Iterator[Site]:
    settings = Settings(max_stale_s=0, max_requests_per_minute=100_000)
    with (
        new_database(url, template.rpartition("/")[2].partition("?")[0]) as database,
        open_site(database, settings) as site,
    ):
        yield site


def _result(site: Site, document: str, right: dict[int, bool], public: Any) -> Any:
    shares = [
        _share([ok for at, ok in right.items() if elsewhere[at]]) for elsewhere in (public | True, public, ~public)
    ]
    return (*shares, _disclosed(site) if "labels: private" in document else ())


def _public(site: Site, n_items: int) -> Any:
    with site.sessions() as session:
        packed = session.scalar(select(LabelPart.public))
    if packed is None:
        return np.ones(n_items, dtype=np.bool_)
    return np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=n_items).astype(np.bool_)


def _share(right: list[bool]) -> str:
    if not right:
        return ""
    share = sum(right) / len(right)
    return f"{100 * share:.0f} % ± {100 * math.sqrt(0.25 / len(right)):.0f}"


def _disclosed(site: Site) -> tuple[str, str]:
    rows = site.http.get(f"/benchmarks/{SLUG}/disclosed.json", headers=site.auth("steward")).json()["rows"]
    row = next((row for row in rows if row["owner"] == "alice"), {"n_shown": 0, "n_answers": 0, "bits_at_most": 0})
    return f"{row['n_shown']} of {row['n_answers']}", f"{row['bits_at_most']:.0f}"


if __name__ == "__main__":
    main()
