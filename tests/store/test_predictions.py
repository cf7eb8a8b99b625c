"""Predictions and labels into Postgres and back, packed."""

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.store import benchmarks, labels
from app.store.labels import pack_floats, pack_labels, read_blocks, unpack_floats, unpack_labels
from app.store.measured import read_entrant
from app.values.scores import Labels
from tests.cases.predictions import BINARY, COLOURS, yaml
from tests.cases.stored_predictions import submit
from tests.fixtures import Site

LABELS = "item,label,weight\na,red,1\nb,green,2\nc,blue,0.5\n"
GUESSES = "item,p_red,p_green,p_blue\nc,0.1,0.2,0.7\na,0.5,0.25,0.25\nb,,,\n"


def declare(site: Site, part: str = COLOURS, truth: str | None = LABELS) -> None:
    """Make the benchmark and put its labels."""
    assert site.http.post("/benchmarks", content=yaml(part), headers=site.auth("steward")).status_code == 201
    if truth is not None:
        answer = site.http.put(
            "/benchmarks/guess/labels", files={"file": ("labels.csv", truth)}, headers=site.auth("steward")
        )
        assert answer.status_code == 201, answer.text


def test_predictions_come_back_as_they_went_in_and_cannot_be_rewritten(site: Site) -> None:
    """In the order of the labels, to the last bit, NaN where there is none; evidence has labels and a row that counts.

    Both are records like every other row.
    """
    declare(site, f"{COLOURS}, missing: failure, labels: public")
    number = submit(site, GUESSES)

    with site.sessions() as session:
        (block,) = read_blocks(session, number, 1)
        declared = benchmarks.find_declared(session, "guess")
        evidence = read_entrant(session, declared, [(number, 1)], "A")

    wanted = [[0.5, 0.25, 0.25], [np.nan] * 3, [0.1, 0.2, 0.7]]
    assert (block.entrant, block.task, block.labels) == ("A", "t", None)
    assert np.array_equal(block.values, wanted, equal_nan=True)
    assert (evidence.predictions[0].values.shape, list(evidence.labels)) == ((3, 3), ["t"])
    assert len(evidence.scores) == 1
    assert evidence.scores.reason is not None
    assert evidence.scores.reason.at(0) == "1 of 3 items have no prediction"
    for table in ("label_set", "prediction"):
        with pytest.raises(DBAPIError, match="is a record"), site.as_owner() as session:
            session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - a name of our own


def test_labels_come_back_without_their_items_for_computing(site: Site) -> None:
    """And the items without their labels for matching: who reads an upload needs none."""
    declare(site)

    with site.sessions() as session:
        declared = benchmarks.find_declared(session, "guess")
        computing = labels.load_labels(session, declared.benchmark.id)["t"]
        matching = labels.labels_to_match(session, declared)["t"]

    assert (computing.items, len(computing), computing.label.tolist()) == ((), 3, [0.0, 1.0, 2.0])
    assert computing.weight is not None
    assert computing.weight.tolist() == [1.0, 2.0, 0.5]
    assert (matching.items, matching.label.tolist(), matching.weight) == (("a", "b", "c"), [0.0, 0.0, 0.0], None)


def test_own_labels_are_stored_with_the_predictions(site: Site) -> None:
    """There are none of the benchmark's."""
    declare(site, f"{BINARY}, labels: submitted", None)
    number = submit(site, "item,prediction,label\nb,0.9,yes\na,0.2,no\n")

    with site.sessions() as session:
        (block,) = read_blocks(session, number, 1)
        stored = session.execute(text("SELECT facts->'own_labels' FROM submission")).scalar_one()

    assert block.labels is not None
    assert block.labels.label.tolist() == [0.0, 1.0]
    assert stored is True


def test_packed_labels_hold_everything() -> None:
    """Items, weights and groups, and that there are none."""
    full = Labels("t", ("a", "ü"), np.array([1.0, -0.0]), np.array([2.0, 3.0]), np.array([7, -1]))
    bare = Labels("t", ("a",), np.array([1e-300]))

    back, bare_back = (unpack_labels(pack_labels(each), "t", with_items=True) for each in (full, bare))

    assert back.weight is not None
    assert back.group is not None
    assert (back.items, back.label.tolist(), back.weight.tolist(), back.group.tolist()) == (
        ("a", "ü"),
        [1.0, 0.0],
        [2.0, 3.0],
        [7, -1],
    )
    assert (bare_back.items, bare_back.label.tolist(), bare_back.weight, bare_back.group) == (
        ("a",),
        [1e-300],
        None,
        None,
    )


def test_packing_is_exact_and_little_endian() -> None:
    """Whatever the machine's own order."""
    values = np.array([[1.0, np.nan], [5e-324, -1.7976931348623157e308]])

    assert np.array_equal(unpack_floats(pack_floats(values)).reshape(2, 2), values, equal_nan=True)
    assert pack_floats(values.astype(">f8")) == pack_floats(values)


def test_a_failed_statement_does_not_tell_its_parameters(site: Site) -> None:
    """Its error is logged, and labels are among the parameters."""
    with pytest.raises(DBAPIError) as failed, site.sessions() as session:
        session.execute(text("SELECT 1 / (length(:label) - length(:label))"), {"label": "the truth"})

    assert "the truth" not in str(failed.value)
