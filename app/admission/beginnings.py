"""When a run began: required if the manifest says so, and remembered if an earlier submission stated it.

Called by `app.admission.rules` and `app.store.attempts`; pure. A run that states a beginning before its registration is
not admitted. Submitted again without a time, or with a later one, it is admitted, but the time stated first is shown.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from app.admission.case import Case
from app.admission.check import Check, in_utc, is_after
from app.admission.earlier_submissions import Earlier
from app.admission.near_copies import LEAST_SHARE, near_share
from app.values.fingerprints import Fingerprint
from app.values.forensics import Finding

RULE = "started_at"
FLAG = "began_before"


@dataclass(frozen=True)
class Beginning:
    """When an earlier run began, as its submission stated, and whether it was not admitted for that reason."""

    started_at: datetime
    was_refused: bool


def check_started_at(case: Case) -> list[Check]:
    """Require that a run states when it began, if the benchmark requires it."""
    if case.manifest.admission.started_at == "optional":
        return []
    if case.started_at is None:
        reason = (
            "The benchmark asks when each run began, and this one does not say it: started_at in the metadata, such as "
            f'{{"started_at": "{case.received_at:%Y-%m-%dT%H:%M:%SZ}"}}.'
        )
        return [Check(RULE, "failed", reason)]
    began = in_utc(case.started_at)
    if is_after(case.started_at, case.received_at):
        return [Check(RULE, "failed", f"The run claims to have begun {began}, after the upload.")]
    return [Check(RULE, "passed", f"The run began {began}, as its submitter says.")]


def began_before(
    prints: Iterable[Fingerprint],
    earlier: Iterable[Earlier],
    beginnings: Mapping[int, Beginning],
    registered_at: datetime,
) -> Iterator[Finding]:
    """Yield entrants whose run began before the registration cited now, according to an earlier submission of it.

    `beginnings` are those stated by submissions, by their number. An earlier submission is taken to be of the same run
    if it has nearly the same rows, or was not admitted for its beginning; the newest such one of each entrant counts. A
    repeated run may innocently meet the second condition, so the sentence says which applies.
    """
    earlier = [one for one in earlier if one.is_same and one.submission in beginnings]
    too_early = [one for one in earlier if is_after(registered_at, beginnings[one.submission].started_at)]
    for mine in prints:
        own = [(_is_the_same(mine, one), one.submission) for one in too_early if _is_of(one, mine)]
        if relevant := [(is_same, number) for is_same, number in own if is_same or beginnings[number].was_refused]:
            is_same, number = max(relevant)
            rows = "the same rows" if is_same else "other rows"
            began = in_utc(beginnings[number].started_at)
            yield Finding(FLAG, mine.entrant, f"{mine.entrant} with {rows} in submission {number}, begun {began}")


def _is_of(one: Earlier, mine: Fingerprint) -> bool:
    return one.fingerprint.entrant.lower() == mine.entrant.lower()


def _is_the_same(mine: Fingerprint, one: Earlier) -> bool:
    is_equal = mine.results == one.fingerprint.results
    return is_equal or near_share(mine.sampled, one.fingerprint.sampled) >= LEAST_SHARE
