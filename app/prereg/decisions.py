"""The claims of a CHAMBER preregistration, the thresholds of a document and the gap of an axis, as hypotheses.

Called by the readers of the two forms. Decision rules are prose there, but their numbers have keys of their own, each
with one meaning in all registered documents (ADR-007 and ADR-027 of CHAMBER): `tau_solv`, the least success of the
reference arm; `tau_infeasible`, the most success of an ablated arm; `delta_min`, the least gap between the reference
and the blind arm; `c_min_ego`, the least success with every member. A threshold is met, or missed, when the whole
interval of the success rate is on that side of it.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from app.names import is_name
from app.prereg.fields import Fields
from app.prereg.values import Hypothesis

AXIS_GAP = 0.20
"""CHAMBER accepts an axis if the homogeneous pair's success rate is at least 20 percentage points higher."""
UNNAMED = "unnamed-arm"
ADMISSION = ("parameters", "admission")
THRESHOLDS_AT = ("decision_rule",)


def gap_of_axis(conditions: tuple[str, ...] | None) -> tuple[Hypothesis, ...]:
    """Return the claim of an axis: homogeneous minus heterogeneous."""
    if conditions is None:
        return ()
    return (Hypothesis((conditions[0], conditions[1]), None, AXIS_GAP, "greater", "axis gap"),)


def decisions_of(fields: Fields) -> tuple[Hypothesis, ...]:
    """Return the claims of a document that has thresholds, in the order of its arms."""
    admission = fields.section(*ADMISSION)
    if admission is not None:
        return tuple(_of_admission(admission))
    rule = fields.section(*THRESHOLDS_AT)
    return () if rule is None else tuple(_of_gate(fields, rule))


def _of_admission(admission: Fields) -> Iterator[Hypothesis]:
    solvable, infeasible, gap = (_number(admission, key) for key in ("tau_solv", "tau_infeasible", "delta_min"))
    reference = _arm(admission, "a1", "bundle_dir")
    if solvable is not None:
        yield Hypothesis((reference,), None, solvable, "greater", "A1 tau_solv")
    if infeasible is not None:
        yield Hypothesis((_arm(admission, "a2", "bundle_dir"),), None, infeasible, "less", "A2 tau_infeasible")
    if gap is not None:
        own = _arm(admission, "a3", "reference_dir", "a1_of_a3")
        first = reference if own == "a1_of_a3" else own
        yield Hypothesis((first, _arm(admission, "a3", "blind_dir")), None, gap, "greater", "A3 delta_min")
    yield from _of_members(admission)


def _of_members(admission: Fields) -> Iterator[Hypothesis]:
    least, cell = _number(admission, "c_min_ego"), admission.section("a4", "params")
    members = [] if cell is None else cell.mapping.get("members")
    for member in members if isinstance(members, list) and least is not None else ():
        if isinstance(member, str) and is_name(member) and least is not None:
            yield Hypothesis((member,), None, least, "greater", f"A4 c_min_ego, {member}")


def _of_gate(fields: Fields, rule: Fields) -> Iterator[Hypothesis]:
    """Yield the claims of a self-describing document; sides that it does not name are called unnamed."""
    conditions = fields.section("task", "conditions")
    named = {} if conditions is None else {k: v for k, v in conditions.mapping.items() if isinstance(v, str)}
    matched = next((v for k, v in named.items() if "matched" in k and "mismatch" not in k and is_name(v)), UNNAMED)
    other = next((v for k, v in named.items() if "mismatch" in k and is_name(v)), UNNAMED)
    for key in rule.mapping:
        value = _number(rule, key)
        if value is not None and key.endswith("tau_solv"):
            yield Hypothesis((matched,), None, value, "greater", key)
        elif value is not None and key.endswith(("delta_min", "delta_min_pp")):
            least = value / 100 if key.endswith("_pp") else value
            yield Hypothesis((matched, other), None, least, "greater", key)


def _number(fields: Fields, key: str) -> float | None:
    value = fields.mapping.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _arm(admission: Fields, name: str, folder: str, otherwise: str | None = None) -> str:
    """Return the name of an arm: its own, the last part of its bundle's folder, or the name of its check."""
    cell, params = admission.section(name), admission.section(name, "params")
    own = None if cell is None or otherwise is not None else cell.mapping.get("cell_id")
    where = None if params is None else params.mapping.get(folder)
    for name_of_arm in (own, PurePosixPath(where).name if isinstance(where, str) else None):
        if isinstance(name_of_arm, str) and is_name(name_of_arm):
            return name_of_arm
    return otherwise or name
