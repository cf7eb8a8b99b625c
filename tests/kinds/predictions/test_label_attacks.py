"""One submitter with all the tricks that told every label: what is told of private ones now."""

from typing import Any

import numpy as np
import pytest

from app.kinds.predictions.report import share_step
from tests.cases.label_attacks import ATTACKS, Attacker, values_by_rmse
from tests.cases.secret_labels import begin, manifest, send, words
from tests.cases.ydf_http import records
from tests.fixtures import Site

N_ITEMS, ASKED = 24, 6
GENEROUS = "public_share: 0.5, per_day: 1000, entrants_per_submission: 1000"
"""Quotas that stop none of these attacks, so that parts, ladder and digits must."""
SHARES = {"boosting of random guesses": N_ITEMS, "the steps of a ROC curve": N_ITEMS}


def half_positive() -> Any:
    """Return labels of which half are positive, so that a guess is right for half of them."""
    return np.random.default_rng(5).permutation(np.arange(N_ITEMS) % 2 == 0)


def right(site: Site, name: str, document: str, public: Any) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Begin a benchmark, attack it, and return for which of the asked items the guess is right."""
    labels = half_positive()
    begin(site, document, words(labels))
    attack, _ = ATTACKS[name]
    guesses = attack(Attacker(site, N_ITEMS, public, ASKED))
    return np.array([guesses[at] == labels[at] for at in sorted(guesses)])


EXACT = [name for name in ATTACKS if name not in (*SHARES, "dry runs and errors")]


@pytest.mark.parametrize("name", EXACT, ids=range(len(EXACT)))
def test_of_private_labels_an_attack_tells_no_more_than_a_guess(site: Site, name: str) -> None:
    """With the quota of a thousand days: the first answer is too coarse, the others are held back: all look alike."""
    labels = half_positive()
    begin(site, manifest(GENEROUS, (ATTACKS[name][1],)), words(labels))
    guesses = ATTACKS[name][0](Attacker(site, N_ITEMS, np.ones(N_ITEMS, dtype=np.bool_), ASKED))

    assert len(set(guesses.values())) == 1


@pytest.mark.parametrize("name", EXACT, ids=range(len(EXACT)))
def test_the_same_attack_tells_every_label_that_is_public(site: Site, name: str) -> None:
    """So the attacks are real: where nothing is held back each of them gives every label that it asks for."""
    document = manifest(None, (ATTACKS[name][1],)).replace("labels: private", "labels: public")

    assert right(site, name, document, np.ones(N_ITEMS, dtype=np.bool_)).all()


def test_dry_runs_and_errors_tell_nothing_at_all(site: Site) -> None:
    """Each answer is the same, whatever is predicted."""
    begin(site, manifest(GENEROUS), words(half_positive()))
    guesses = ATTACKS["dry runs and errors"][0](Attacker(site, N_ITEMS, np.ones(N_ITEMS, dtype=np.bool_), 4))

    assert set(guesses.values()) == {False}


@pytest.mark.parametrize(("labels_are", "is_told"), [("public", True), ("private", False)])
def test_real_valued_labels_are_told_by_no_rmse(site: Site, labels_are: str, is_told: bool) -> None:
    """Of public labels the attack tells every digit; of private ones it knows nothing better than their mean."""
    labels = np.random.default_rng(6).normal(size=N_ITEMS)
    document = manifest(GENEROUS, ("rmse",), "kind: regression")
    if is_told:
        document = manifest(None, ("rmse",), "kind: regression").replace("labels: private", "labels: public")
    begin(site, document, labels.tolist())
    actual = values_by_rmse(Attacker(site, N_ITEMS, np.ones(N_ITEMS, dtype=np.bool_), ASKED))
    errors = np.array([abs(actual[at] - labels[at]) for at in range(ASKED)])

    if is_told:
        assert errors.max() < 1e-9
    else:
        assert errors.mean() >= np.abs(labels[:ASKED]).mean() / 2
        assert errors.max() > 0.5


def test_bands_and_operating_points_tell_no_more_than_the_curve(site: Site) -> None:
    """Points stand at thresholds that the curve shows, and every share is in the steps of the others."""
    labels = half_positive()
    begin(site, manifest(GENEROUS, ("auc", "precision@recall=0.8")), words(labels))
    number = send(site, np.linspace(0.1, 0.9, N_ITEMS).round(4).tolist()).json()["id"]
    site.work()
    roc, pr, points = (records(site, f"/submissions/{number}/tables/{name}.csv") for name in ("roc", "pr", "operating"))
    cells = [
        row[name] for row in (*roc, *pr, *points) for name in row if name.startswith(("recall", "precision", "fpr"))
    ]
    step = share_step(N_ITEMS // 2)

    assert {row["threshold"] for row in points} <= {row["threshold"] for row in roc}
    assert all(abs(float(cell) / step - round(float(cell) / step)) < 1e-9 for cell in cells if cell)
