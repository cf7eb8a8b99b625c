"""What a benchmark with private labels discloses: which items are scored at once, how often, and how precisely.

Part of what a kind with private labels declares (`app.kinds.predictions.manifest_part`); pure. Every answer reveals
something about the labels, so a manifest without these keys gets the defaults below: no limit is off unless declared.
"""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field, field_validator

from app.manifest.base import Part

MOST_DIGITS = 6


class Scoring(Part):
    """What is disclosed of private labels.

    `public_share` of the items is scored at once, and nothing else is shown before the close; 1 holds nothing back.
    `per_day` submissions of an owner are scored in any 24 hours, of at most `entrants_per_submission` entrants. With
    `ladder` a score is shown only if it is better than the owner's best by more than its standard error. `digits` is
    the most significant digits of a number; its interval may allow fewer. From `closes_at` on nothing is accepted,
    and the private part is shown; without it a steward closes the benchmark.
    """

    public_share: float = Field(0.5, ge=0.05, le=1.0)
    per_day: int = Field(5, ge=1, le=1000)
    entrants_per_submission: int = Field(1, ge=1, le=1000)
    ladder: bool = True
    digits: int = Field(3, ge=1, le=MOST_DIGITS)
    closes_at: Annotated[AwareDatetime, Field(strict=False)] | None = None

    @field_validator("closes_at", mode="before")
    @classmethod
    def _is_written_out(cls, given: Any) -> Any:
        """Accept a time only as text: a number would be taken for seconds."""
        if given is not None and not isinstance(given, str):
            raise ValueError("expected a time with its zone, such as 2030-06-30T12:00:00Z")
        return given

    def chooses_alike(self, other: "Scoring") -> bool:
        """Say whether the same items are public under another version: what was shown cannot be withdrawn."""
        return self.public_share == other.public_share


DEFAULTS = Scoring()
"""The defaults where labels are private and the manifest declares nothing."""
