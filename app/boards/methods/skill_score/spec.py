"""How a manifest declares a board of skill scores. Read by `.method` and `.relative`."""

from typing import Literal, Self

from pydantic import Field, field_validator

from app.manifest.base import MetricName, Name
from app.manifest.leaderboard import Leaderboard
from app.manifest.metric import Metric

Missing = Literal["error", "drop", "impute"]
RankBy = Literal["skill_score", "win_rate"]


class SkillScore(Leaderboard):
    """A board of skill scores: 1 − geometric mean of errors relative to the baseline's."""

    can_lack_intervals = True

    method: Literal["skill_score"]
    metric: MetricName
    baseline: Name
    leakage_model: Name | None = None
    missing: Missing = "error"
    clip: list[float] = Field(default=[0.01, 100.0], min_length=2, max_length=2)
    rank_by: RankBy = "skill_score"
    normalize_time_per_n_forecasts: int | None = Field(None, ge=1)

    @field_validator("clip")
    @classmethod
    def _clip_is_a_range(cls, clip: list[float]) -> list[float]:
        if not 0 < clip[0] < clip[1]:
            raise ValueError("clip must be [low, high] with 0 < low < high")
        return clip

    def required_entrants(self) -> tuple[str, ...]:
        """Return the baseline and the leakage model, whose errors replace leaked ones."""
        return (self.baseline,) if self.leakage_model is None else (self.baseline, self.leakage_model)

    def against(self, baseline: str) -> Self:
        """Return the board with errors relative to another baseline."""
        return self.model_copy(update={"baseline": baseline})

    def imputes(self) -> bool:
        """Say whether the baseline's error replaces a missing one."""
        return self.missing == "impute"

    def compares_ratios(self) -> bool:
        """Say that errors are compared as ratios, because tasks may have different units."""
        return True

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def worst_of(self, metric: Metric) -> float | None:
        """Return the worst possible relative error, which is the upper end of the clip."""
        del metric
        return self.clip[1]

    def check_metric(self, metric: Metric) -> str | None:
        """Return why the metric cannot be used, or None: ratios need errors, smaller being better."""
        if metric.direction != "minimize":
            return f"skill_score compares errors; {self.metric} has direction {metric.direction}"
        return None
