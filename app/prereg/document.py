"""The document form of a preregistration: CHAMBER's, whose parameters are the author's own.

Called by `app.prereg.prereg`. Its inner keys are free, so the values that checks need are looked for where CHAMBER's
registered documents have them; rules on seeds and bootstrap methods apply wherever they are declared.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from app.names import NAME_RULE, is_name
from app.prereg.decisions import decisions_of
from app.prereg.document_draws import InnerPart, declared_bootstrap, declared_seeds
from app.prereg.fields import Fields, is_integer, nearest
from app.prereg.shared import RUN_PURPOSES, SHARED_KEYS
from app.prereg.values import Prereg, RunPurpose
from app.yaml.builder import Path

DOCUMENT_KEYS = (*SHARED_KEYS, "schema_version", "task_id", "revision", "parameters", "decision_rules")
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


def read_document_form(fields: Fields, shared: Prereg) -> Prereg:
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


def _check_versioned(fields: Fields) -> None:
    fields.refuse_unknown(DOCUMENT_KEYS)
    fields.refuse_missing("schema_version", "task_id", "git_tag", "parameters", "decision_rules")
    version = fields.mapping.get("schema_version", SCHEMA_VERSION)
    if not is_integer(version) or version != SCHEMA_VERSION:
        fields.refuse(f"unknown schema_version; known is {SCHEMA_VERSION}", "schema_version", value=version)
    _refuse_empty(fields, "parameters", dict)
    _refuse_empty(fields, "decision_rules", str | dict | list)


def _check_self_described(fields: Fields) -> None:
    fields.text("schema", pattern=SCHEMA_PATTERN, rule="a name and a version, such as gate0_prereg/v1")
    rule = "decision_rules" if "decision_rules" in fields.mapping else "decision_rule"
    fields.refuse_missing("git_tag", rule)
    _refuse_empty(fields, rule, str | dict | list)
    for key in fields.mapping:
        near = None if key in SHARED_KEYS else nearest(key, SHARED_KEYS, SLIP)
        if near is not None:
            fields.refuse(f"unknown key; did you mean {near}?", key, value=key)


def _refuse_empty(fields: Fields, key: str, kinds: Any) -> None:
    if key not in fields.mapping:
        return
    value = fields.mapping[key]
    if not isinstance(value, kinds):
        wanted = "a mapping" if kinds is dict else "text, a mapping or a list"
        fields.refuse(f"{key} must be {wanted}", key, value=value)
    elif not (value.strip() if isinstance(value, str) else value):
        fields.refuse(f"{key} must not be empty", key, value=value)


def _inner_parts(fields: Fields, run_purpose: RunPurpose) -> Iterator[InnerPart]:
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


def _task(fields: Fields) -> tuple[str, ...] | None:
    task = fields.name("task_id") if "schema_version" in fields.mapping else None
    return None if task is None else (task,)


def _entrants(fields: Fields) -> tuple[str, ...] | None:
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        if rows is not None:
            return _checked_names(rows, tuple(rows.mapping))
    return None


def _own_partner(fields: Fields) -> Iterator[str]:
    """Yield the rows evaluated as the pair they were trained as, such as B-JOINT of the co-carry campaign."""
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        for name in rows.mapping if rows is not None else ():
            row = fields.section(*path, name)
            if row is not None and row.mapping.get("partner_dimension") == OWN_PARTNER:
                yield name


def _policies(fields: Fields) -> Iterator[tuple[str, str]]:
    """Yield which policy each row is registered to run."""
    for path in ENTRANTS_AT:
        rows = fields.section(*path)
        for name in rows.mapping if rows is not None else ():
            policy = _text_at(fields, *path, name, "policy")
            if policy is not None:
                yield name, policy


def _text_at(fields: Fields, *path: str) -> str | None:
    """Return a text or an integer as text; anything else counts as not declared."""
    section = fields.section(*path[:-1])
    value = None if section is None else section.mapping.get(path[-1])
    return str(value) if isinstance(value, str) or is_integer(value) else None


def _task_version(fields: Fields) -> str | None:
    """Return the version of the task, from its own key or from the suffix of its name, as in cocarry@v1."""
    own = _text_at(fields, "parameters", "admission", "task_version")
    named = _text_at(fields, "parameters", "campaign", "task") or ""
    return own or named.partition("@v")[2] or None


def _checked_names(rows: Fields, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not is_name(name):
            rows.refuse(f"a row names an entrant: {NAME_RULE}", name, value=name)
    return names


def _conditions(fields: Fields) -> tuple[str, ...] | None:
    """Return the partners to evaluate with, or the conditions of a self-describing document."""
    partners = fields.section(*PARTNERS_AT)
    if partners is not None:
        return partners.names("eval_members")
    conditions = fields.section("task", "conditions")
    if conditions is None:
        return None
    return tuple(name for key in conditions.mapping if (name := conditions.name(key)) is not None)


def _episodes_per_seed(fields: Fields) -> int | None:
    """Return the number of episodes per seed and condition, from the first key that declares it."""
    for *around, key in EPISODES_AT:
        section = fields.section(*around)
        if section is not None and key in section.mapping:
            return section.count(key)
    return None
