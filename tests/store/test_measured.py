"""What was measured of an entrant, as it is kept: numbers at once, curves and losses when they are asked for."""

import numpy as np
import psycopg
import pytest

from app.boards.measured import Measurement
from app.db.engine import make_engine, make_session_factory
from app.store.measured import (
    ColdParts,
    keep_measurements,
    load_measurements,
    pack_apart,
    pack_measurement,
    unpack_apart,
    unpack_measurement,
)
from tests.cases.databases import as_owner

CURVE = {"roc": [("t", 0.0, None), ("t", 1.0, 0.5)], "intervals": [("t", "auc", 0.5)]}


def test_what_is_read_of_a_measurement_does_not_grow_with_its_items() -> None:
    """A board of a thousand entrants reads all of them, and the losses of the fifty that it tests."""
    few, many = (Measurement("A", {}, losses={"t": np.zeros((n, 1))}) for n in (10, 100_000))

    assert pack_measurement(few) == pack_measurement(many)
    assert list(unpack_measurement(pack_measurement(many)).with_apart().losses) == ["t"]


def test_curves_and_losses_are_read_once_and_only_when_they_are_asked_for() -> None:
    """Which tables and tasks there are is known before, and rows that everybody has are at hand."""
    measured = Measurement("A", {}, rows=CURVE, losses={"t": np.ones(3)})
    asked: list[bytes | None] = []

    def read() -> ColdParts:
        asked.append(pack_apart(measured, {"roc"}))
        return ColdParts() if asked[-1] is None else unpack_apart(asked[-1])

    back = unpack_measurement(pack_measurement(measured, {"roc"})).with_apart(read)
    known = set(back.rows), "t" in back.losses, back.rows.get("pr"), list(back.rows["intervals"]), len(asked)
    assert known == ({"roc", "intervals"}, True, None, CURVE["intervals"], 0)

    assert (list(back.rows.get("roc", ())), back.losses["t"].tolist(), len(asked)) == (CURVE["roc"], [1.0] * 3, 1)
    # As floats those of fifty entrants of 100,000 examples were 40 MB.
    assert back.losses["t"].dtype == np.int8


@pytest.mark.parametrize("values", [[[0.0], [1.0], [1.0]], [[0.25], [-3.5], [1e300]], [[-0.0], [1.0]]])
def test_losses_survive_being_kept(values: list[list[float]]) -> None:
    """To the last bit; zeros and ones take a byte each."""
    losses = np.array(values)
    packed = pack_apart(Measurement("A", {}, losses={"a task": losses}))
    assert packed is not None

    assert unpack_apart(packed).losses["a task"].astype(np.float64).tobytes() == losses.tobytes()
    assert pack_apart(Measurement("A", {}, rows=CURVE)) is None


def test_rows_that_are_kept_apart_have_every_cell_as_it_was() -> None:
    """A whole number stays one, none stays none, and each digit and sign is there."""
    rows = [("t", 1, 0.1 + 0.2, None, True, 2**60), ("é", 0, -0.0, None, None, 1), ("t", 3, 5e-324, None, 1.0, -1)]
    packed = pack_apart(Measurement("A", {}, rows={"roc": rows, "pr": []}), {"roc", "pr"})
    assert packed is not None
    back = unpack_apart(packed).rows

    assert repr(list(back["roc"])) == repr(rows)
    assert list(back["pr"]) == []


def test_a_row_apart_with_a_number_that_is_none_is_refused() -> None:
    """It would be none when it comes back, and nobody would know why."""
    with pytest.raises(ValueError, match="not finite"):
        pack_apart(Measurement("A", {}, rows={"roc": [(float("nan"),)]}), {"roc"})


def test_a_measurement_that_was_read_is_not_read_again_unless_it_changed(database_url: str) -> None:
    """It is known by a digest of its bytes, so whatever is stored in its place is read."""
    engine = make_engine(as_owner(database_url))
    place = ((1, 1), "key")
    with make_session_factory(engine)() as session:
        driver = session.connection().connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        driver.execute("SET session_replication_role = replica")  # there is no submission 1
        keep_measurements(session, {place: Measurement("A", {}, facts={"n": 1})})
        first, second = (load_measurements(session, [place])[place] for _ in range(2))
        driver.execute("DELETE FROM measured")
        keep_measurements(session, {place: Measurement("A", {}, facts={"n": 2})})
        third = load_measurements(session, [place])[place]
        session.rollback()
    engine.dispose()

    assert first is second
    assert (first.facts, third.facts) == ({"n": 1}, {"n": 2})
