"""What the hypotheses of a registration compare, held against what the benchmark knows, to be said before the run.

Called by `app.web.preregs`; pure. A hypothesis about a name without rows stays inconclusive, which a submitter would
otherwise learn only after the run. An entrant may still come, so nothing here refuses a registration.
"""

from collections.abc import Collection, Iterator

from app.admission.check import listed
from app.manifest.problems import nearest
from app.prereg.values import Hypothesis, Prereg


def unknown_sides(prereg: Prereg, conditions: Collection[str] | None, entrants: Collection[str]) -> list[str]:
    """Return, in sentences, which registered conditions and sides of hypotheses the benchmark does not know.

    `conditions` is the closed list of conditions, empty where the evidence has none, None where any may come;
    `entrants` are those that evidence was ever submitted for.
    """
    known = {*entrants, *(prereg.entrants or ())}
    written = [each for each in prereg.hypotheses if each.name is None]  # a form implies the others
    strange = [] if conditions is None else _strange_conditions(prereg, written, conditions, known)
    explained = {*known, *strange, *(conditions or ()), *(prereg.conditions or ())}
    nobody = dict.fromkeys(side for each in written for side in each.contrast if side not in explained)
    return [
        *([_no_conditions(strange, conditions or ())] if strange else []),
        *(_nobody(side, known, is_open=conditions is None) for side in nobody),
        *(sentence for each in written for sentence in _mixed(each, conditions or (), known)),
    ]


def _strange_conditions(
    prereg: Prereg, written: list[Hypothesis], conditions: Collection[str], entrants: Collection[str]
) -> list[str]:
    """Return the names that can only be conditions, by the form or by what they are compared with, and are none."""
    beside = (side for each in written if set(each.contrast) & set(conditions) for side in each.contrast)
    named = dict.fromkeys((*(prereg.conditions or ()), *beside))
    return [name for name in named if name not in conditions and name not in entrants]


def _no_conditions(strange: list[str], conditions: Collection[str]) -> str:
    instead = f"it has {listed(conditions)}" if conditions else "its evidence has none"
    return f"The benchmark has no conditions {listed(strange)}; {instead}."


def _nobody(side: str, entrants: Collection[str], *, is_open: bool) -> str:
    """Return the sentence about a name without results that nobody has announced."""
    near = nearest(side, entrants)
    too = " (no condition of this name is declared either)" if is_open else ""
    meant = f" Did you mean {near}?" if near else ""
    return (
        f"Nobody has submitted {side}, and the registration does not list it{too}: "
        f"a hypothesis about it stays inconclusive until there are results of {side}.{meant}"
    )


def _mixed(hypothesis: Hypothesis, conditions: Collection[str], entrants: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with comparing an entrant with a condition."""
    is_condition = [side in conditions and side not in entrants for side in hypothesis.contrast]
    is_entrant = [side in entrants for side in hypothesis.contrast]
    if any(is_condition) and any(is_entrant):
        sides = listed(hypothesis.contrast)
        yield f"A hypothesis compares an entrant with a condition ({sides}): no rows decide it. Compare two of a kind."
