"""How a board's intervals are drawn, as its manifest declares it. Part of `app.manifest.manifest`."""

from typing import Literal

from pydantic import Field, field_validator

from app.manifest.base import Part

Stream = Literal["independent", "fev", "chamber", "lrdbench"]
FEWEST_RESAMPLES = 100


class Uncertainty(Part):
    """How a board's intervals are drawn; `n_resamples: 0` means no intervals, where the method allows it.

    `rng_seed` is the board's own; `seed` without the prefix is always an entrant's.
    """

    n_resamples: int = Field(1000, ge=0, le=100_000)
    level: float = Field(0.95, gt=0.5, lt=1.0)
    rng_seed: int = Field(0, ge=0, lt=2**63)
    stream: Stream = "independent"

    @field_validator("n_resamples")
    @classmethod
    def _enough_or_none(cls, n_resamples: int) -> int:
        if 0 < n_resamples < FEWEST_RESAMPLES:
            raise ValueError(f"must be at least {FEWEST_RESAMPLES}, or 0 for no intervals")
        return n_resamples
