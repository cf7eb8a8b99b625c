"""What was measured of an entrant, as it is kept: numbers at once, what tests need of each item when they ask."""

from collections.abc import Mapping

import numpy as np
import pytest

from app.boards.measured import Measurement
from app.stats.arrays import FloatArray
from app.store.measured import KeptLosses, pack_losses, pack_measurement, unpack_losses, unpack_measurement


def test_what_is_read_of_a_measurement_does_not_grow_with_its_items() -> None:
    """A board of a thousand entrants reads all of them, and the losses of the fifty that it tests."""
    few, many = (Measurement("A", {}, losses={"t": np.zeros((n, 1))}) for n in (10, 100_000))

    assert pack_measurement(few) == pack_measurement(many)
    assert list(unpack_measurement(pack_measurement(many)).losses) == ["t"]


def test_losses_are_read_once_and_only_when_they_are_asked_for() -> None:
    """Which tasks there are is known before."""
    asked: list[str] = []

    def read() -> Mapping[str, FloatArray]:
        asked.append("read")
        return {"t": np.ones(3)}

    kept = KeptLosses(["t"], read)
    assert (len(kept), "t" in kept, "other" in kept, asked) == (1, True, False, [])

    assert (kept["t"].tolist(), kept["t"].tolist(), asked) == ([1.0] * 3, [1.0] * 3, ["read"])


@pytest.mark.parametrize("values", [[[0.0], [1.0], [1.0]], [[0.25], [-3.5], [1e300]], [[-0.0], [1.0]]])
def test_losses_survive_being_kept(values: list[list[float]]) -> None:
    """To the last bit; zeros and ones take a byte each."""
    losses = np.array(values)
    packed = pack_losses({"a task": losses})
    assert packed is not None

    assert unpack_losses(packed)["a task"].tobytes() == losses.tobytes()
    assert pack_losses({}) is None
