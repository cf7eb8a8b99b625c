"""The keys of `admission`: what a manifest requires of submissions. Part of `app.manifest.manifest`."""

from typing import Annotated, Literal

from pydantic import Field

from app.manifest.base import Part
from app.prereg.values import FailurePolicy

PreregForm = Literal["axis", "document", "evaluation"]


class LeastSeeds(Part):
    """The fewest seeds of a run: a spike is registered in the axis form, an entry in another form or not at all."""

    spike: int = Field(ge=2)
    entry: int = Field(ge=2)


class Registration(Part):
    """Tokens to submit here for anybody who asks: how many in 24 hours, and for how many days."""

    per_day: int = Field(ge=1, le=1000)
    token_days: int = Field(ge=1, le=3650)


class Admission(Part):
    """The rules that a submission must meet before it can be on a board.

    `report_within_days` is how long after its registration a run may take before it counts as overdue. `failure_policy`
    applies to episodes without a score where no preregistration declares one. Where submissions are by invitation, only
    submitters of the benchmark may register and submit. `started_at` requires a run to state when it began: without it
    nobody can tell whether its registration came first.
    """

    prereg: Literal["required", "optional"] = "optional"
    prereg_forms: list[PreregForm] = Field(default=["evaluation"])
    min_seeds: Annotated[int, Field(ge=2)] | LeastSeeds | None = None
    claims: Literal["optional", "required"] = "optional"
    dirty: Literal["refuse", "allow"] = "refuse"
    failure_policy: FailurePolicy = "strict"
    report_within_days: int | None = Field(None, ge=1, le=3650)
    submissions: Literal["open", "invited"] = "open"
    registration: Registration | None = None
    started_at: Literal["optional", "required"] = "optional"

    def least_seeds(self, form: PreregForm | None) -> int | None:
        """Return the fewest seeds of a run that was registered in this form (None: not at all)."""
        if not isinstance(self.min_seeds, LeastSeeds):
            return self.min_seeds
        return self.min_seeds.spike if form == "axis" else self.min_seeds.entry
