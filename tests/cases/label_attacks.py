"""Attacks on private labels by one submitter, over HTTP; each returns what it takes the labels of its items to be.

The attacker is told more than anybody: which items are public. What it cannot tell it takes to be `no`, which half of
the labels are. Called by tests/kinds/predictions/test_label_attacks.py and `bench.label_attack`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tests.cases.secret_labels import SLUG, items, send
from tests.cases.ydf_http import records, table
from tests.fixtures import Site

NO, YES = 0.25, 0.75
BITS = 40
"""How many labels one log-loss in double precision tells."""
MOVED = 1.0
"""How far an attack moves the prediction of one item to see what that does to the RMSE."""
Guesses = dict[int, bool]
Scores = Mapping[str, float]


@dataclass(frozen=True)
class Attacker:
    """One submitter who wants the labels of `asked` of the items; `public` says which are in the public part."""

    site: Site
    n_items: int
    public: "np.ndarray[Any, np.dtype[np.bool_]]"
    asked: int

    def flat(self, chosen: Sequence[int] = ()) -> list[float]:
        """Return predictions that call some items positive and no others."""
        predicted = np.full(self.n_items, NO)
        predicted[list(chosen)] = YES
        return [float(p) for p in predicted]

    def upload(self, entrants: Mapping[str, Sequence[float]], prereg: bytes | None = None) -> Any:
        """Send many entrants in one file."""
        rows = [
            [name, item, p]
            for name, all_of in entrants.items()
            for item, p in zip(items(self.n_items), all_of, strict=True)
        ]
        files = [("files", ("all.csv", table(["entrant", "item", "prediction"], rows)))]
        if prereg is not None:
            self.site.http.post("/preregs", content=prereg, headers=self.site.auth())
            files.append(("prereg", ("p.yaml", prereg.decode())))
        return self.site.http.post(f"/benchmarks/{SLUG}/submissions", files=files, headers=self.site.auth())

    def board(self, metric: str) -> dict[str, float]:
        """Return the scores that the board shows."""
        address = f"/benchmarks/{SLUG}/leaderboards/board.csv"
        return {row["entrant"]: float(row[metric]) for row in records(self.site, address) if row.get(metric)}

    def table(self, address: str) -> list[dict[str, str]]:
        """Return the rows of a table; none where there is none."""
        answer = self.site.http.get(address)
        return records(self.site, address) if answer.status_code == 200 else []

    def each_alone(self) -> dict[str, list[float]]:
        """Return a base, and an entrant for each asked item that calls it alone positive."""
        return {"base": self.flat(), **{f"e{at}": self.flat([at]) for at in range(self.asked)}}


def compare(attacker: Attacker, shown: Scores) -> Guesses:
    """Take an item to be positive where calling it so is better than the base."""
    base = shown.get("base", math.inf)
    return {at: shown.get(f"e{at}", -math.inf) > base for at in range(attacker.asked)}


def by_accuracy(attacker: Attacker) -> Guesses:
    """One file: a base and an entrant for each item."""
    attacker.upload(attacker.each_alone())
    attacker.site.work()
    return compare(attacker, attacker.board("accuracy"))


def by_debug_run(attacker: Attacker) -> Guesses:
    """The same as a debug run, whose metrics stand on the submission and on no board."""
    plan = f"benchmark: {SLUG}\nrun_purpose: debug\nmetrics: [accuracy]\ntasks: all\n".encode()
    number = attacker.upload(attacker.each_alone(), plan).json()["id"]
    attacker.site.work()
    rows = attacker.table(f"/submissions/{number}/tables/intervals.csv")
    return compare(
        attacker, {r["entrant"]: float(r["value"]) for r in rows if r["metric"] == "accuracy" and r["interval"] == "B"}
    )


def by_logloss(attacker: Attacker) -> Guesses:
    """Weights of powers of two in the log-odds: the digits of a few log-losses are the labels."""
    starts = range(0, attacker.asked, BITS)
    odds = {f"l{at}": _powers(attacker, at) for at in starts}
    attacker.upload({name: (1.0 / (1.0 + np.exp(-each))).tolist() for name, each in odds.items()})
    attacker.site.work()
    shown = attacker.board("logloss")
    guesses: Guesses = {}
    for at in starts:
        guesses |= _digits(attacker, odds[f"l{at}"], at, shown.get(f"l{at}"))
    return guesses


def _powers(attacker: Attacker, start: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    odds = np.zeros(attacker.n_items)
    asked = np.arange(start, min(start + BITS, attacker.asked))
    odds[asked] = 2.0 ** (asked - start - BITS + 4)
    return odds


def _digits(attacker: Attacker, odds: Any, start: int, shown: float | None) -> Guesses:
    """Return what the digits of one log-loss say: the sum of the log-odds of the positive ones."""
    asked = range(start, min(start + BITS, attacker.asked))
    if shown is None:
        return dict.fromkeys(asked, False)
    probability = 1.0 / (1.0 + np.exp(-odds))
    left = float(-np.log1p(-probability[attacker.public]).sum()) - shown * int(attacker.public.sum())
    guesses: Guesses = {}
    for at in reversed(asked):
        half = odds[asked[0]] / 2.0
        guesses[at] = bool(attacker.public[at] and left >= odds[at] - half)
        left -= odds[at] if guesses[at] else 0.0
    return guesses


def by_pairs(attacker: Attacker) -> Guesses:
    """The test of each pair counts who is right alone."""
    attacker.upload(attacker.each_alone())
    attacker.site.work()
    rows = attacker.table(f"/benchmarks/{SLUG}/leaderboards/board/tests.csv")
    alone = {row["entrant_a"]: int(row["n_a_only"]) for row in rows if row["entrant_b"] == "base" and row["n_a_only"]}
    return {at: alone.get(f"e{at}", 0) > 0 for at in range(attacker.asked)}


def by_withdrawing(attacker: Attacker) -> Guesses:
    """One entrant again and again: submit, look, withdraw."""
    shown: dict[str, float] = {}
    for name, predicted in attacker.each_alone().items():
        number = send(attacker.site, predicted).json().get("id")
        attacker.site.work()
        shown[name] = attacker.board("accuracy").get("A", -math.inf)
        if number is not None:
            reason = {"reason": "again"}
            attacker.site.http.post(f"/submissions/{number}/withdraw", json=reason, headers=attacker.site.auth())
    return compare(attacker, shown)


def by_renaming(attacker: Attacker) -> Guesses:
    """A new entrant with a registration of its own for each item."""
    for name, predicted in attacker.each_alone().items():
        plan = f"benchmark: {SLUG}\nentrants: [{name}]\nmetrics: [accuracy]\ntasks: all\nnotes: {name}\n"
        attacker.site.http.post("/preregs", content=plan.encode(), headers=attacker.site.auth())
        send(attacker.site, predicted, name, files=[("prereg", ("p.yaml", plan))])
    attacker.site.work()
    return compare(attacker, attacker.board("accuracy"))


def by_dry_runs(attacker: Attacker) -> Guesses:
    """Every answer of a dry run, and every error, that differs from the base's is taken for a label."""
    reported = {
        name: [_answer(attacker, predicted, broken) for broken in (False, True)]
        for name, predicted in attacker.each_alone().items()
    }
    return {at: reported[f"e{at}"] != reported["base"] for at in range(attacker.asked)}


def _answer(attacker: Attacker, predicted: Sequence[float], broken: bool) -> str:
    sent = [*predicted[:-1], 7.0] if broken else predicted
    answer = send(attacker.site, sent, query="?dry_run=true").json()
    kept = {key: value for key, value in answer.items() if key in ("admitted", "warnings", "problems", "detail")}
    rules = [(check["rule"], check["outcome"], check["reason"]) for check in answer.get("checks", ())
             if check["rule"] != "forensics"]  # fmt: skip
    return json.dumps([kept, rules], sort_keys=True)


def by_boosting(attacker: Attacker) -> Guesses:
    """Random guesses; those that the board puts above one half vote."""
    rng = np.random.default_rng(17)
    votes = {f"v{at}": rng.random(attacker.n_items) < 0.5 for at in range(attacker.asked)}
    attacker.upload({name: np.where(vote, YES, NO).tolist() for name, vote in votes.items()})
    attacker.site.work()
    shown = attacker.board("accuracy")
    cast = [(score - 0.5) * (2.0 * votes[name] - 1.0) for name, score in shown.items()]
    total = np.sum(cast, axis=0) if cast else np.zeros(attacker.n_items)
    return {at: bool(total[at] > 0) for at in range(attacker.n_items)}


def by_curve(attacker: Attacker) -> Guesses:
    """One entrant with a score for each item: every step of its ROC curve tells how many of the next are positive."""
    ranked = np.linspace(0.9, 0.1, attacker.n_items)
    number = send(attacker.site, ranked.round(4).tolist()).json()["id"]
    attacker.site.work()
    rows = attacker.table(f"/submissions/{number}/tables/roc.csv")
    points = [(float(r["threshold"] or math.inf), float(r["recall"]), float(r["fpr"])) for r in rows]
    guesses = dict.fromkeys(range(attacker.n_items), False)
    for (above, recall, fpr), (below, more_recall, more_fpr) in _steps(sorted(points, reverse=True)):
        if more_recall - recall > more_fpr - fpr:
            guesses |= dict.fromkeys(np.flatnonzero((ranked <= above) & (ranked > below)).tolist(), True)
    return guesses


def _steps(points: Sequence[tuple[float, float, float]]) -> Iterator[tuple[Any, Any]]:
    return pairwise(points)


ATTACKS: Mapping[str, tuple[Callable[[Attacker], Guesses], str]] = {
    "one file, an entrant for each label, accuracy": (by_accuracy, "accuracy"),
    "the same as a debug run": (by_debug_run, "accuracy"),
    "one file, digits of the log-loss": (by_logloss, "logloss"),
    "tests pair by pair": (by_pairs, "accuracy"),
    "submit, look, withdraw, again": (by_withdrawing, "accuracy"),
    "a new entrant and registration for each label": (by_renaming, "accuracy"),
    "dry runs and errors": (by_dry_runs, "accuracy"),
    "boosting of random guesses": (by_boosting, "accuracy"),
    "the steps of a ROC curve": (by_curve, "auc"),
}


def values_by_rmse(attacker: Attacker) -> dict[int, float]:
    """Real-valued labels: each of the entrants of one file moves one item, and its RMSE tells that item's label.

    What is not told is taken to be 0, the mean of the labels.
    """
    entrants = {"base": np.zeros(attacker.n_items)}
    entrants |= {f"e{at}": np.eye(attacker.n_items)[at] * MOVED for at in range(attacker.asked)}
    attacker.upload({name: [float(value) for value in values] for name, values in entrants.items()})
    attacker.site.work()
    shown, n_public = attacker.board("rmse"), int(attacker.public.sum())
    if "base" not in shown:
        return dict.fromkeys(range(attacker.asked), 0.0)
    gained = {at: n_public * (shown["base"] ** 2 - shown[f"e{at}"] ** 2) for at in range(attacker.asked)
              if f"e{at}" in shown}  # fmt: skip
    return {
        at: (gained[at] + MOVED**2) / (2.0 * MOVED) if at in gained and attacker.public[at] else 0.0
        for at in range(attacker.asked)
    }
