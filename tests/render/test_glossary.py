"""The glossary explains every column that points to it, and every metric that a benchmark of predictions can have."""

import re
from pathlib import Path

import pytest

from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.metrics import glossary_key, metric_names
from app.render.glossary import glossary_entries

APP = Path(__file__).resolve().parents[2] / "app"
ANCHORS = {entry.anchor for entry in glossary_entries()}


def test_no_term_is_explained_twice() -> None:
    """An anchor leads to one entry."""
    assert len(ANCHORS) == len(glossary_entries())


@pytest.mark.unmutated
def test_every_term_that_a_column_names_is_explained() -> None:
    """The names stand in the definitions of the columns."""
    named = {
        term for path in APP.rglob("*.py") for term in re.findall(r'glossary="(\w+)"', path.read_text(encoding="utf-8"))
    }

    assert len(named) > 40
    assert named <= ANCHORS


@pytest.mark.parametrize("kind", ["classification", "regression", "ranking"])
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_every_metric_of_predictions_is_explained(kind: str, classes: list[str]) -> None:
    """Averaged metrics and those at a constraint share an entry."""
    part = {"kind": kind} | ({"classes": classes} if kind == "classification" else {})

    for name in metric_names(Predictions.model_validate(part)):
        assert glossary_key(name) in ANCHORS, name


def test_the_entry_on_interval_tags_says_no_more_of_b_than_was_simulated() -> None:
    """As docs/statistics.md: B covers 89 to 91 of 100 where models are good and examples few, C at least 93.6."""
    (entry,) = (each for each in glossary_entries() if each.anchor == "interval_tags")

    assert "where it differs much from C, they are not. Read C." in entry.text
    assert "holds for every metric" not in entry.text
