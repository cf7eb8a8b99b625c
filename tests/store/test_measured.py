"""What was measured of an entrant, as it is kept: numbers at once, curves and losses when they are asked for."""

import numpy as np
import pytest

from app.boards.measured import Measurement
from app.store.measured import Apart, pack_apart, pack_measurement, unpack_apart, unpack_measurement

CURVE = {"roc": [("t", 0.0, None), ("t", 1.0, 0.5)], "intervals": [("t", "auc", 0.5)]}


def test_what_is_read_of_a_measurement_does_not_grow_with_its_items() -> None:
    """A board of a thousand entrants reads all of them, and the losses of the fifty that it tests."""
    few, many = (Measurement("A", {}, losses={"t": np.zeros((n, 1))}) for n in (10, 100_000))

    assert pack_measurement(few) == pack_measurement(many)
    assert list(unpack_measurement(pack_measurement(many)).losses) == ["t"]


def test_curves_and_losses_are_read_once_and_only_when_they_are_asked_for() -> None:
    """Which tables and tasks there are is known before, and rows that everybody has are at hand."""
    measured = Measurement("A", {}, rows=CURVE, losses={"t": np.ones(3)})
    asked: list[bytes | None] = []

    def read() -> Apart:
        asked.append(pack_apart(measured, {"roc"}))
        return Apart() if asked[-1] is None else unpack_apart(asked[-1])

    back = unpack_measurement(pack_measurement(measured, {"roc"}), read)
    known = set(back.rows), "t" in back.losses, back.rows.get("pr"), list(back.rows["intervals"]), len(asked)
    assert known == ({"roc", "intervals"}, True, None, CURVE["intervals"], 0)

    assert (list(back.rows.get("roc", ())), back.losses["t"].tolist(), len(asked)) == (CURVE["roc"], [1.0] * 3, 1)


@pytest.mark.parametrize("values", [[[0.0], [1.0], [1.0]], [[0.25], [-3.5], [1e300]], [[-0.0], [1.0]]])
def test_losses_survive_being_kept(values: list[list[float]]) -> None:
    """To the last bit; zeros and ones take a byte each."""
    losses = np.array(values)
    packed = pack_apart(Measurement("A", {}, losses={"a task": losses}))
    assert packed is not None

    assert unpack_apart(packed).losses["a task"].tobytes() == losses.tobytes()
    assert pack_apart(Measurement("A", {}, rows=CURVE)) is None
