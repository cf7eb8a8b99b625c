"""The table of claims, whole: contrasts of a benchmark and of a registration, and what the evidence says of them."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.claims import (
    AskedClaim,
    ClaimedContrast,
    claims_table,
    contrasts_of,
    decide_claims,
    past_claim,
    undelivered_claim,
)
from app.kinds.parse import parse_manifest
from app.kinds.registry import delivered_of
from app.prereg.fields import Hypothesis
from app.prereg.prereg import parse_prereg, sha256_hex
from app.values.scores import Coded, ScoreTable
from tests.cases.admission import AXIS, grid, table
from tests.cases.chamber import MANIFEST, PREREG
from tests.cases.frozen import assert_same, tables_as_text

CLAIMS = b"""
claims:
  gap: {contrast: [homogeneous, heterogeneous], metric: success, threshold: 0.1}
  safe: {contrast: [left], metric: violation, threshold: 0.5, direction: less}
  models: {contrast: [mover, naive], metric: success, threshold: 0.0}
  others: {contrast: [mover, stranger], metric: success, threshold: 0.0}
"""
DECLARED = parse_manifest(MANIFEST + CLAIMS)
HYPOTHESES = (
    PREREG
    + b"""hypotheses:
  - {contrast: [left, right], threshold: 0.2}
"""
)
ASKED = AskedClaim(7, status="current")
ROWS = [*grid(), *grid(entrant="naive")]


def evidence() -> object:
    """Return episodes of two entrants in two conditions, some of them failures."""
    scores = table(ROWS, ("success", "violation"), 0.0)
    scores.values[:, 0] = np.arange(len(ROWS)) % 3 > 0
    scores.values[::5, 1] = np.nan
    return scores


@pytest.mark.parametrize("prereg", [None, PREREG, AXIS], ids=["none", "document", "axis"])
def test_claims_are_decided_as_they_were(prereg: bytes | None) -> None:
    """Roles mean the registered conditions; what was not delivered, or decided before, has its row."""
    parsed = None if prereg is None else parse_prereg(prereg)
    contrasts = contrasts_of(DECLARED, parsed, None if prereg is None else sha256_hex(prereg))
    rows = decide_claims(DECLARED, contrasts, evidence(), ASKED)  # type: ignore[arg-type]
    gone = undelivered_claim(contrasts[0], [], AskedClaim(8, status="withdrawn"))
    past = past_claim(dict(zip(claims_table(DECLARED, ()).column_names(), rows[0], strict=True)), "superseded")
    kept = claims_table(DECLARED, [*rows, gone, past])

    assert_same(f"claims-{'none' if prereg is None else parsed.form if parsed else ''}", tables_as_text([kept]))


def test_hypotheses_of_a_registration_follow_the_claims_of_the_benchmark() -> None:
    """By their name or number, with the beginning of the registration's digest; one that is implied is not repeated."""
    hypotheses = (
        Hypothesis(("left", "right"), "success", 0.2, "greater"),
        Hypothesis(("right",), "success", 0.3, "greater", name="able"),
        Hypothesis(("mover", "naive"), "success", 0.9, "greater", name="implied"),
        Hypothesis(("left", "right"), "speed", 0.1, "less"),
    )
    contrasts = contrasts_of(DECLARED, replace(parse_prereg(PREREG), hypotheses=hypotheses), sha256_hex(PREREG))
    rows = decide_claims(DECLARED, contrasts[4:], evidence(), ASKED)  # type: ignore[arg-type]

    assert_same("claims-hypotheses", tables_as_text([claims_table(DECLARED, rows)]))
    assert [each.claim for each in contrasts[4:]] == ["hypothesis 1", "able", "hypothesis 4"]


def test_a_claim_about_one_seed_says_why_nothing_is_decided() -> None:
    """In words, beside the difference that was seen."""
    scores = table([*grid([0]), *grid([0], entrant="naive")])
    scores.values[::3] = 0.0
    contrasts = [each for each in contrasts_of(DECLARED, None, None) if each.claim == "models"]
    kept = claims_table(DECLARED, decide_claims(DECLARED, contrasts, scores, ASKED))

    assert [(row["verdict"], row["note"]) for row in kept.records()] == [("inconclusive", "too few units")]


@pytest.mark.parametrize(
    ("bounds", "n_seeds", "is_told"), [("", 5, True), ("", 35, False), (", min: 0, max: 1", 5, False)]
)
def test_a_verdict_of_few_seeds_without_a_range_says_what_it_rests_on(bounds: str, n_seeds: int, is_told: bool) -> None:
    """One seed in ten may diverge by any amount: five steady ones do not show that none does."""
    declared = parse_manifest(
        b"""
schema_version: 1
slug: losses
title: Losses
evidence: episodes
metrics: {success: {direction: minimize%s}}
tasks: [{id: one}]
episodes: {seed: seed, item: [trial], task: task}
claims: {c: {contrast: [mine, other], metric: success, threshold: 0, direction: less}}
leaderboards: [{name: b, method: estimate, metrics: [success]}]
"""
        % bounds.encode()
    )
    rows = [row for who in ("mine", "other") for row in grid(range(n_seeds), [None], entrant=who, task="one")]
    scores = table(rows)
    scores.values[:, 0] = [0.5 * (row[0] == "other") + 0.01 * (int(row[3] or 0) % 3) for row in rows]
    (shown,) = claims_table(
        declared, decide_claims(declared, contrasts_of(declared, None, None), scores, ASKED)
    ).records()

    told = f"only if no seed in ten lies far beyond these: {n_seeds} seeds of 35 do not show that"
    assert (shown["verdict"], told in str(shown["note"])) == ("inconclusive" if bounds else "supported", is_told)


@pytest.mark.parametrize(("n_easy", "is_compared"), [(10, True), (19, False)])
def test_who_sends_more_of_the_easy_task_supports_nothing_by_it(n_easy: int, is_compared: bool) -> None:
    """Leader is better on both tasks and was shown to be worse, by a rival with more results on the easy one."""
    declared = parse_manifest(
        b"""
schema_version: 1
slug: arms
title: Arms
evidence: episodes
metrics: {success: {direction: maximize, min: 0, max: 1}}
tasks: [{id: easy}, {id: hard}]
episodes: {seed: seed, item: [trial], task: task}
claims: {c: {contrast: [mine, leader], metric: success, threshold: 0}}
leaderboards: [{name: b, method: estimate, metrics: [success]}]
"""
    )
    rows = [
        ("easy" if trial < n else "hard", who, seed, trial)
        for who, n in (("mine", n_easy), ("leader", 10))
        for seed in range(40)
        for trial in range(20)
    ]
    tasks, names = ("easy", "hard"), ("mine", "leader")
    rate = {("easy", "leader"): 0.9, ("hard", "leader"): 0.5, ("easy", "mine"): 0.85, ("hard", "mine"): 0.45}
    rng, zeros = np.random.default_rng(4), np.zeros(len(rows), dtype=np.int64)
    scores = ScoreTable(
        Coded(names, np.array([names.index(who) for _, who, _, _ in rows])),
        Coded(tasks, np.array([tasks.index(task) for task, _, _, _ in rows])),
        ("success",),
        np.array([[float(rng.random() < rate[task, who])] for task, who, _, _ in rows]),
        zeros.astype(np.bool_),
        zeros,
        np.arange(len(rows)),
        seed=np.array([seed for _, _, seed, _ in rows]),
    )
    (row,) = decide_claims(declared, contrasts_of(declared, None, None), scores, ASKED)
    record = dict(zip(claims_table(declared, ()).column_names(), row, strict=True))

    assert is_compared or record["alone"] == "inconclusive"
    assert (record["difference"] is not None) is is_compared
    assert str(record["note"]).startswith("not compared: the two have other shares") is not is_compared


@pytest.mark.parametrize(
    ("second", "verdict", "note"),
    [("right", "supported", "all equal"), ("front", "inconclusive", "partial: 92 of 96 included; all equal")],
)
def test_a_claim_about_two_conditions_asks_for_nothing_in_a_third(second: str, verdict: str, note: str) -> None:
    """Who delivered both is decided on them, whatever it lacks elsewhere; where one is incomplete, nothing is."""
    asked = f"""
grid: {{seeds: {list(range(12))}, conditions: [left, right, front], items: 4}}
claims:
  gap: {{contrast: [left, {second}], metric: success, threshold: 0.2}}
"""
    declared = parse_manifest(MANIFEST + asked.encode())
    rows = [*grid(range(12)), *grid(range(11), ["front"])]
    scores = table(rows)
    scores.values[[row[2] != "left" for row in rows]] = 0.0
    contrasts = contrasts_of(declared, None, None)
    decided = decide_claims(declared, contrasts, scores, ASKED, delivered_of(declared))
    (shown,) = claims_table(declared, decided).records()

    assert (shown["verdict"], shown["note"]) == (verdict, note)


@pytest.mark.parametrize(
    ("n_second", "verdict", "note"),
    [
        (12, "supported", "provisional: nobody has declared what is asked; all equal"),
        (11, "inconclusive", "4 unmatched; provisional: nobody has declared what is asked; all equal"),
    ],
)
def test_where_no_grid_is_declared_a_claim_rests_on_matched_pairs_alone(n_second: int, verdict: str, note: str) -> None:
    """Episodes without a partner might have contradicted it; that nobody knows what is asked is said either way."""
    rows = [*grid(range(12), ["left"]), *grid(range(n_second), ["right"])]
    scores = table(rows)
    scores.values[[row[2] == "right" for row in rows]] = 0.0
    contrast = ClaimedContrast("gap", "manifest", "left", "right", "success", 0.2, "greater")
    decided = decide_claims(DECLARED, [contrast], scores, ASKED, delivered_of(DECLARED))
    (shown,) = claims_table(DECLARED, decided).records()

    assert (shown["verdict"], shown["note"]) == (verdict, note)
