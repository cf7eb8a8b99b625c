"""How a manifest declares one metric: which way is better, its range, its unit, and the column it is read from.

Part of `app.manifest.manifest`; read wherever values of a metric are turned, bounded or shown.
"""

from typing import Self

from pydantic import Field, model_validator

from app.manifest.base import ColumnName, Direction, Part, Title


class Metric(Part):
    """How to read one metric: which way is better, its range and its unit.

    `from` names the column it is read from where that is not its own name; with `above` the score is whether
    the column is above that value.
    """

    direction: Direction
    source: ColumnName | None = Field(None, alias="from")
    above: float | None = None
    title: Title | None = None
    unit: str | None = Field(None, max_length=40)
    min: float | None = None
    max: float | None = None
    description: str | None = Field(None, max_length=2000)

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise ValueError(f"min must be below max: no score lies between {self.min:g} and {self.max:g}")
        return self

    @property
    def is_rate(self) -> bool:
        """Say whether the metric counts how often something happens that should not, such as a limit passed."""
        return self.above is not None or (self.direction == "minimize" and (self.min, self.max) == (0.0, 1.0))

    @property
    def is_share(self) -> bool:
        """Say whether the scores are yes or no, or shares: above a value or not, or from 0 to 1."""
        return self.above is not None or (self.min, self.max) == (0.0, 1.0)

    @property
    def worst(self) -> float | None:
        """Return the worst value there is; None where the declared range does not end there."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return low if self.direction == "maximize" else high

    @property
    def best(self) -> float | None:
        """Return the best value there is; None where the declared range does not end there."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return high if self.direction == "maximize" else low
