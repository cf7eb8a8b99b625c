"""The document form of a preregistration: CHAMBER's, whose parameters are the author's own. Its inner keys are free,
so the values that checks need are looked for where CHAMBER's registered documents have them; rules on seeds and
bootstrap methods apply wherever they are declared.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from app.names import NAME_RULE, is_name
from app.prereg.fields import (
    BOOTSTRAP_METHODS,
    RUN_PURPOSES,
    SHARED_KEYS,
    BootstrapMethod,
    Hypothesis,
    Prereg,
    PreregFields,
    RunPurpose,
    is_integer,
    refuse_iid,
)
from app.yaml import Path, dotted

DOCUMENT_KEYS: Mapping[str, str] = {
    **SHARED_KEYS,
    "schema_version": "the document's own schema, such as `prereg.handover/v3`",
    "task_id": "the task",
    "revision": "the revision of the document",
    "parameters": "everything that is fixed before the run, in the document's own structure",
    "decision_rules": "the rules by which claims are decided",
}
"""The keys of the document form, each with what it means."""

SCHEMA_VERSION = 1

SCHEMA_PATTERN = r"[A-Za-z0-9_.-]{1,100}/v[0-9]{1,4}"

EPISODES_AT: tuple[tuple[str, ...], ...] = (
    ("parameters", "evaluation", "episodes_per_seed_per_partner"),
    ("parameters", "evaluation", "episodes_per_seed"),
    ("parameters", "admission", "episodes_per_seed"),
    ("parameters", "episodes_per_seed"),
    ("decision_rule", "episodes_per_seed"),
)

ENTRANTS_AT: tuple[tuple[str, ...], ...] = (("parameters", "rows"), ("parameters", "campaign", "rows"))

# An outer key this similar to a shared one is a typo: taken for the author's own key, it would silently leave the
# shared one at its default.
SLIP = 0.85

OWN_PARTNER = "own trained partner only"

PARTNERS_AT = ("parameters", "partner_grid")


def read_document_form(fields: PreregFields, shared: Prereg) -> Prereg:
    """Add the keys of the document form to the shared ones.

    There are two variants: `schema_version: 1` has a closed set of outer keys, `schema: name/v1` describes itself.
    """
    if "schema_version" in fields.mapping or "schema" not in fields.mapping:
        _check_versioned(fields)
    else:
        _check_self_described(fields)
    parts = list(_inner_parts(fields, shared.run_purpose))
    decision_rule = fields.section("decision_rule")
    return replace(
        shared,
        seeds=declared_seeds(fields, shared, parts),
        bootstrap_method=declared_bootstrap(fields, shared, parts),
        tasks=_task(fields),
        entrants=_entrants(fields),
        conditions=_conditions(fields),
        own_partner=tuple(_own_partner(fields)),
        policies=dict(_policies(fields)),
        partner_set=_text_at(fields, *PARTNERS_AT, "partner_set"),
        task_version=_task_version(fields),
        hypotheses=decisions_of(fields),
        episodes_per_seed=_episodes_per_seed(fields),
        estimator=None if decision_rule is None else decision_rule.text("estimator"),
    )


def _check_versioned(fields: PreregFields) -> None:
    fields.refuse_unknown(DOCUMENT_KEYS)
    fields.refuse_missing("schema_version", "task_id", "git_tag", "parameters", "decision_rules")
    version = fields.mapping.get("schema_version", SCHEMA_VERSION)
    if not is_integer(version) or version != SCHEMA_VERSION:
        fields.refuse(f"unknown schema_version; known is {SCHEMA_VERSION}", "schema_version", value=version)
    _refuse_empty(fields, "parameters", dict)
    _refuse_empty(fields, "decision_rules", str | dict | list)


def _check_self_described(fields: PreregFields) -> None:
    fields.text("schema", pattern=SCHEMA_PATTERN, rule="a name and a version, such as gate0_prereg/v1")
    rule = "decision_rules" if "decision_rules" in fields.mapping else "decision_rule"
    fields.refuse_missing("git_tag", rule)
    _refuse_empty(fields, rule, str | dict | list)
    for key in fields.mapping:
        if key not in SHARED_KEYS and (slip := get_close_matches(key, SHARED_KEYS, n=1, cutoff=SLIP)):
            fields.refuse(f"unknown key; did you mean {slip[0]}?", key, value=key)


def _refuse_empty(fields: PreregFields, key: str, kinds: Any) -> None:
    if key not in fields.mapping:
        return
    value = fields.mapping[key]
    if not isinstance(value, kinds):
        wanted = "a mapping" if kinds is dict else "text, a mapping or a list"
        fields.refuse(f"{key} must be {wanted}", key, value=value)
    elif not (value.strip() if isinstance(value, str) else value):
        fields.refuse(f"{key} must not be empty", key, value=value)


@dataclass(frozen=True)
class InnerPart:
    """One inner mapping and its run purpose: its own, or that of the enclosing mapping."""

    fields: PreregFields
    run_purpose: RunPurpose


def _inner_parts(fields: PreregFields, run_purpose: RunPurpose) -> Iterator[InnerPart]:
    """Yield the mappings below the outermost one, in the order of the text."""
    waiting: list[tuple[Path, Any, RunPurpose]]
    waiting = [((key,), value, run_purpose) for key, value in _steps(fields.mapping)]
    while waiting:
        path, value, purpose = waiting.pop()
        if isinstance(value, dict):
            part = replace(fields, path=path, mapping=value)
            purpose = part.choice("run_purpose", RUN_PURPOSES, purpose)
            yield InnerPart(part, purpose)
        waiting += [((*path, step), inner, purpose) for step, inner in _steps(value)]


def _steps(value: Any) -> list[tuple[str | int, Any]]:
    """Return the contents of a mapping or list, last first, to be pushed on a stack."""
    if isinstance(value, list):
        return [(position, value[position]) for position in reversed(range(len(value)))]
    return list(reversed(value.items())) if isinstance(value, dict) else []


def _task(fields: PreregFields) -> tuple[str, ...] | None:
    task = fields.name("task_id") if "schema_version" in fields.mapping else None
    return None if task is None else (task,)


def _entrants(fields: PreregFields) -> tuple[str, ...] | None:
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        if rows is not None:
            return _checked_names(rows, tuple(rows.mapping))
    return None


def _own_partner(fields: PreregFields) -> Iterator[str]:
    """Yield the rows evaluated as the pair they were trained as, such as B-JOINT of the co-carry campaign."""
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        for name in rows.mapping if rows is not None else ():
            row = fields.section(*path, name)
            if row is not None and row.mapping.get("partner_dimension") == OWN_PARTNER:
                yield name


def _policies(fields: PreregFields) -> Iterator[tuple[str, str]]:
    """Yield which policy each row is registered to run."""
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        for name in rows.mapping if rows is not None else ():
            policy = _text_at(fields, *path, name, "policy")
            if policy is not None:
                yield name, policy


def _text_at(fields: PreregFields, *path: str) -> str | None:
    """Return a text or an integer as text; anything else counts as not declared."""
    section = fields.section(*path[:-1])
    value = None if section is None else section.mapping.get(path[-1])
    return str(value) if isinstance(value, str) or is_integer(value) else None


def _task_version(fields: PreregFields) -> str | None:
    """Return the version of the task, from its own key or from the suffix of its name, as in cocarry@v1."""
    own = _text_at(fields, "parameters", "admission", "task_version")
    named = _text_at(fields, "parameters", "campaign", "task") or ""
    return own or named.partition("@v")[2] or None


def _checked_names(rows: PreregFields, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not is_name(name):
            rows.refuse(f"a row names an entrant: {NAME_RULE}", name, value=name)
    return names


def _conditions(fields: PreregFields) -> tuple[str, ...] | None:
    """Return the partners to evaluate with, or the conditions of a self-describing document."""
    partners = fields.section(*PARTNERS_AT)
    if partners is not None:
        return partners.names("eval_members")
    conditions = fields.section("task", "conditions")
    if conditions is None:
        return None
    return tuple(name for key in conditions.mapping if (name := conditions.name(key)) is not None)


def _episodes_per_seed(fields: PreregFields) -> int | None:
    """Return the number of episodes per seed and condition, from the first key that declares it."""
    for *around, key in EPISODES_AT:
        section = fields.section(*around)
        if section is not None and key in section.mapping:
            return section.count(key)
    return None


# The seeds and the bootstrap that a registered document declares, wherever it does.

# Seeds of the registered run itself: not of its training, its pilot or its extension.
SEEDS_AT: tuple[Path, ...] = (
    ("seeds",),
    ("parameters", "seeds"),
    ("parameters", "evaluation", "eval_seeds"),
    ("parameters", "evaluation", "seeds"),
    ("parameters", "admission", "seeds"),
    ("decision_rule", "seeds"),
)

# Keys whose prose may name the bootstrap method, as the estimators of CHAMBER's campaigns do.
PROSE_KEYS = ("estimator", "estimators", "bootstrap")

_IID_IN_PROSE = re.compile(r"(?<!no )(?<!not )(?<!never )\b(?:iid|i\.i\.d\.)[ -]+bootstrap", re.IGNORECASE)


def declared_seeds(fields: PreregFields, shared: Prereg, parts: Sequence[InnerPart]) -> tuple[int, ...] | None:
    """Check every list of seeds and return that of the registered run."""
    by_path: dict[Path, tuple[int, ...]] = {} if shared.seeds is None else {("seeds",): shared.seeds}
    for part in parts:
        for key in part.fields.mapping:
            path = (*part.fields.path, key)
            if path in SEEDS_AT or (_names_seeds(key) and isinstance(part.fields.mapping[key], list)):
                by_path[path] = part.fields.seeds(key) or ()
    declared = [path for path in SEEDS_AT if by_path.get(path)]
    for path in declared[1:]:
        if set(by_path[path]) != set(by_path[declared[0]]):
            fields.refuse(f"the seeds differ from those at {dotted(declared[0])}", *path)
    return by_path[declared[0]] if declared else None


def _names_seeds(key: str) -> bool:
    return key == "seeds" or key.endswith("_seeds")


def declared_bootstrap(fields: PreregFields, shared: Prereg, parts: Sequence[InnerPart]) -> BootstrapMethod:
    """Check every declared bootstrap method and return that of the registered run."""
    methods = []
    for part in parts:
        for key in part.fields.mapping:
            method = _declared_method(part.fields, key)
            if method is not None:
                refuse_iid(part.fields, key, part.run_purpose, method)
                methods += [method] if part.run_purpose == shared.run_purpose else []
    explicit = "bootstrap_method" in fields.mapping
    return shared.bootstrap_method if explicit or not methods else methods[0]


def _declared_method(part: PreregFields, key: str) -> BootstrapMethod | None:
    """Return the bootstrap method that `key` declares; None when it declares something else."""
    value = part.mapping[key]
    if key in PROSE_KEYS:
        return _method_in_prose(value)
    if key != "bootstrap_method" and not (key == "method" and "bootstrap" in part.path[-2:]):
        return None
    method = _method_named(value)
    if method is None:
        part.refuse(f"a bootstrap method must be one of {', '.join(BOOTSTRAP_METHODS)}", key, value=value)
    return method


def _method_in_prose(value: Any) -> BootstrapMethod | None:
    says_iid = isinstance(value, str) and _IID_IN_PROSE.search(value) is not None
    return "iid" if says_iid else _method_named(value)


def _method_named(value: Any) -> BootstrapMethod | None:
    word = value.lower().removeprefix("paired_").removesuffix("_bootstrap") if isinstance(value, str) else None
    return next((method for method in BOOTSTRAP_METHODS if word == method), None)


# The claims of a CHAMBER preregistration, the thresholds of a document and the gap of an axis, as hypotheses.
# Decision rules are prose there, but their numbers have keys of their own, each with one meaning in all registered
# documents (ADR-007 and ADR-027 of CHAMBER): `tau_solv`, the least success of the reference arm; `tau_infeasible`,
# the most success of an ablated arm; `delta_min`, the least gap between the reference and the blind arm; `c_min_ego`,
# the least success with every member. A threshold is met, or missed, when the whole interval of the success rate is
# on that side of it.

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


def decisions_of(fields: PreregFields) -> tuple[Hypothesis, ...]:
    """Return the claims of a document that has thresholds, in the order of its arms."""
    admission = fields.section(*ADMISSION)
    if admission is not None:
        return tuple(_of_admission(admission))
    rule = fields.section(*THRESHOLDS_AT)
    return () if rule is None else tuple(_of_gate(fields, rule))


def _of_admission(admission: PreregFields) -> Iterator[Hypothesis]:
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


def _of_members(admission: PreregFields) -> Iterator[Hypothesis]:
    least, cell = _number(admission, "c_min_ego"), admission.section("a4", "params")
    members = [] if cell is None else cell.mapping.get("members")
    for member in members if isinstance(members, list) and least is not None else ():
        if isinstance(member, str) and is_name(member) and least is not None:
            yield Hypothesis((member,), None, least, "greater", f"A4 c_min_ego, {member}")


def _of_gate(fields: PreregFields, rule: PreregFields) -> Iterator[Hypothesis]:
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


def _number(fields: PreregFields, key: str) -> float | None:
    value = fields.mapping.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _arm(admission: PreregFields, name: str, folder: str, otherwise: str | None = None) -> str:
    """Return the name of an arm: its own, the last part of its bundle's folder, or the name of its check."""
    cell, params = admission.section(name), admission.section(name, "params")
    own = None if cell is None or otherwise is not None else cell.mapping.get("cell_id")
    where = None if params is None else params.mapping.get(folder)
    for name_of_arm in (own, PurePosixPath(where).name if isinstance(where, str) else None):
        if isinstance(name_of_arm, str) and is_name(name_of_arm):
            return name_of_arm
    return otherwise or name
