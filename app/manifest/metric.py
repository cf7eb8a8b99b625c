"""How a manifest declares one metric: which way is better, its range, its unit, and the column it is read from.

Part of `app.manifest.manifest`; read wherever values of a metric are oriented, bounded or shown.
"""

from typing import Self

from pydantic import Field, model_validator

from app.manifest.base import ColumnName, Direction, Part, Title


class Metric(Part):
    """How to read one metric: which way is better, its range and its unit.

    `from` names its column if that is not its own name; with `above` the score is 1 where the column exceeds that
    value.
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
        """Say whether the metric is the rate of an undesired event, such as a limit being exceeded."""
        return self.above is not None or (self.direction == "minimize" and (self.min, self.max) == (0.0, 1.0))

    @property
    def is_share(self) -> bool:
        """Say whether scores are 0/1 or shares: declared with `above`, or with the range 0 to 1."""
        return self.above is not None or (self.min, self.max) == (0.0, 1.0)

    def is_read_like(self, other: "Metric") -> bool:
        """Say whether a metric of the same name is read from the same column, with the same value to be above."""
        return (self.source, self.above) == (other.source, other.above)

    @property
    def worst(self) -> float | None:
        """Return the worst possible value; None where the declared range has no such end."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return low if self.direction == "maximize" else high

    @property
    def best(self) -> float | None:
        """Return the best possible value; None where the declared range has no such end."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return high if self.direction == "maximize" else low
