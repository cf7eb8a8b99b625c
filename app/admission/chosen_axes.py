"""The rule for axes that a registration may choose: it must name enough values of each before the run.

Called by `app.admission.rules`.
"""

from collections.abc import Iterator

from app.admission.case import Case
from app.admission.check import Check
from app.prereg.prereg import Prereg

RULE = "chosen_axes"


def check_chosen(case: Case) -> list[Check]:
    """Require, for each axis that the manifest leaves to registrations, that enough values are named."""
    grid = case.manifest.grid
    if grid is None or not grid.registration_may_choose or case.registered is None:
        return []
    wrong = list(_too_few(case, case.registered.prereg))
    if wrong:
        return [Check(RULE, "failed", f"{' '.join(wrong)}")]
    named = ", ".join(grid.registration_may_choose)
    return [Check(RULE, "passed", f"The registration names enough of what it may choose: {named}.")]


def _too_few(case: Case, prereg: Prereg) -> Iterator[str]:
    free = {} if case.manifest.grid is None else case.manifest.grid.registration_may_choose
    for axis, wanted in free.items():
        named = getattr(prereg, axis) or ()
        if len(named) < wanted.at_least:
            yield f"The registration names {len(named)} {axis}; it may choose {wanted.at_least} or more."
