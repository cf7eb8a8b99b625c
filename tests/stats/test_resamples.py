"""A column's means are its own, whichever columns stand beside it and whatever the processor."""

import os
import subprocess
import sys

import pytest

ALONE_AND_BESIDE = """
import numpy as np
from app.stats.resample import NamedResamples, unit_keys
from app.stats.resample import Resamples

values = np.random.default_rng(2).lognormal(size=(100, 41))
named = NamedResamples(unit_keys(1, [(str(task),) for task in range(100)]), 200)
for draws in (Resamples(100, 200, lambda: np.random.default_rng(1)), named):
    whole = draws.means(values)
    for n_columns in range(1, 41):
        assert (draws.means(values[:, :n_columns]) == whole[:, :n_columns]).all(), n_columns
        assert (draws.means(values[:, -n_columns:]) == whole[:, -n_columns:]).all(), n_columns
    # So many that they are multiplied part by part, on several processors.
    many = draws.means(np.tile(values, 150))
    assert (many == np.tile(whole, 150)).all()
"""


@pytest.mark.heavy
@pytest.mark.parametrize("kernels", ["", "Prescott"])
def test_means_are_the_same_bits_whichever_columns_stand_beside(kernels: str) -> None:
    """OpenBLAS adds columns left over in another order; Prescott's kernels, which every x86 can run, show it."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels} if kernels else dict(os.environ)
    done = subprocess.run([sys.executable, "-c", ALONE_AND_BESIDE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
