"""Preregistrations, read in each of their forms: what is to be measured, declared before the run.

One is addressed by its bytes.

Why: docs/adr/013-registrations.md.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from app.errors import PreregRejected, Problem, Rejected
from app.names import METRIC_PATTERN, METRIC_RULE, SLUG_PATTERN, SLUG_RULE, first_few
from app.prereg.document import UNNAMED, gap_of_axis, read_document_form
from app.prereg.fields import (
    IID_REFUSED,
    SHARED_KEYS,
    Form,
    Hypothesis,
    Prereg,
    PreregFields,
    RunPurpose,
    Side,
    is_integer,
    read_shared,
)
from app.yaml import ParsedYaml, Path, dotted, read_document

__all__ = ["MAX_BYTES", "Hypothesis", "Prereg", "git_blob_sha1", "parse_prereg", "sha256_hex"]

MAX_BYTES = 64 * 1024

# Keys that only one form has: they identify it.
FORM_KEYS: Mapping[Form, tuple[str, ...]] = {
    "axis": ("axis", "condition_pair"),
    "document": ("schema_version", "schema", "task_id", "decision_rules"),
    "evaluation": ("benchmark", "entrants", "hypotheses"),
}


def read_axis(fields: PreregFields, shared: Prereg) -> Prereg:
    """Add the keys of the axis form to the shared ones."""
    fields.refuse_unknown(AXIS_KEYS)
    fields.refuse_missing("axis", "condition_pair", "seeds", "episodes_per_seed", "estimator", "git_tag")
    conditions = _condition_pair(fields)
    return replace(
        shared,
        axis=_axis(fields),
        conditions=conditions,
        hypotheses=gap_of_axis(conditions),
        episodes_per_seed=fields.count("episodes_per_seed"),
        estimator=fields.text("estimator"),
    )


def read_evaluation(fields: PreregFields, shared: Prereg) -> Prereg:
    """Add the keys of the evaluation form to the shared ones."""
    fields.refuse_unknown(EVALUATION_KEYS)
    fields.refuse_missing("benchmark", "metrics")
    _refuse_empty_analysis(fields)
    metrics = fields.names("metrics", pattern=METRIC_PATTERN, rule=METRIC_RULE) or ()
    return replace(
        shared,
        benchmark=fields.text("benchmark", pattern=SLUG_PATTERN, rule=SLUG_RULE),
        entrants=_names_unless(fields, "entrants", "any"),
        tasks=_names_unless(fields, "tasks", "all"),
        conditions=_names_unless(fields, "conditions", "all"),
        metrics=metrics,
        hypotheses=_hypotheses(fields, metrics),
    )


_READERS: Mapping[Form, Callable[[PreregFields, Prereg], Prereg]] = {
    "axis": read_axis,
    "document": read_document_form,
    "evaluation": read_evaluation,
}

_FORMS_IN_WORDS = "; ".join(f"the {form} form has {', '.join(keys)}" for form, keys in FORM_KEYS.items())


def parse_prereg(data: bytes) -> Prereg:
    """Read a preregistration of any form. Raises PreregRejected with every problem it has."""
    try:
        document = read_document(data, max_bytes=MAX_BYTES, what="The preregistration")
    except Rejected as error:
        raise PreregRejected(error.detail, error.problems, n_problems=error.n_problems) from error
    problems: list[Problem] = []
    prereg = _read(document, problems)
    if problems or prereg is None:
        in_order_of_text = sorted(problems, key=lambda problem: problem.row or 0)
        raise PreregRejected("The preregistration breaks the rules below.", in_order_of_text)
    return prereg


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes, in hexadecimal: the address of a preregistration."""
    return hashlib.sha256(data).hexdigest()


def git_blob_sha1(data: bytes) -> str:
    """Return the id that git gives to a file with these bytes, as CHAMBER's bundles cite it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _read(document: ParsedYaml, problems: list[Problem]) -> Prereg | None:
    if not isinstance(document.value, dict):
        problems.append(Problem("expected a mapping at the top level", row=document.line(())))
        return None
    fields = PreregFields(document, problems, (), document.value)
    if is_prml(fields):
        return read_prml(fields, read_shared(fields, "evaluation"))
    form = _recognise(fields)
    if form is None:
        read_shared(fields, "evaluation")  # only for its problems: the shared keys mean the same in every form
        return None
    shared = read_shared(fields, form)
    prereg = _READERS[form](fields, shared)
    refuse_other_purposes(fields, shared.run_purpose)
    refuse_iid_anywhere(fields, shared.run_purpose)
    return prereg


def _recognise(fields: PreregFields) -> Form | None:
    """Return the form whose keys the document has; refuse a document that matches no form, or several."""
    present = {form: [key for key in keys if key in fields.mapping] for form, keys in FORM_KEYS.items()}
    forms = [form for form, keys in present.items() if keys]
    if len(forms) == 1:
        return forms[0]
    if forms:
        mixed = " and ".join(f"{', '.join(present[form])} ({form} form)" for form in forms)
        fields.refuse(f"keys of {len(forms)} forms in one preregistration: {mixed}; register one form")
    else:
        fields.refuse(f"no form of preregistration has these keys: {_FORMS_IN_WORDS}")
    return None


# The two closed forms of a preregistration: CHAMBER's axis form and our evaluation form. Source of the axis form:
# `PreregistrationSpec` of CHAMBER, and its six registered axes.

AXES = {
    "AS": "action space",
    "OM": "observation modality",
    "CR": "control rate",
    "CM": "communication",
    "PF": "partner familiarity",
    "SA": "safety",
}

CONDITION_KEYS = ("homogeneous_id", "heterogeneous_id")

AXIS_KEYS: Mapping[str, str] = {
    **SHARED_KEYS,
    "axis": f"the axis of CHAMBER: {', '.join(AXES)}",
    "condition_pair": f"the two conditions: {' and '.join(CONDITION_KEYS)}",
    "episodes_per_seed": "episodes in each condition and seed",
    "estimator": "what is estimated, in words",
}
"""The keys of the axis form, each with what it means."""

HYPOTHESIS_KEYS = ("contrast", "metric", "threshold", "direction")

EVALUATION_KEYS: Mapping[str, str] = {
    **SHARED_KEYS,
    "benchmark": "the benchmark's slug",
    "entrants": "the entrants to be measured; names not yet in use are reserved for the registrant",
    "tasks": "a list of tasks, or all",
    "conditions": "a list of conditions, or all: exactly those of the run",
    "metrics": "the metrics to be reported",
    "hypotheses": f"claims to be decided, each with {', '.join(HYPOTHESIS_KEYS)}; contrast names two entrants or "
    "two conditions, the first minus the second (unknown names are said at registration)",
    "analysis": "text: how the results will be analysed",
}
"""The keys of the evaluation form, each with what it means."""

SIDES: tuple[Side, ...] = ("greater", "less")

_SHOWN_METRICS = 10


def _axis(fields: PreregFields) -> str | None:
    axis = fields.text("axis")
    if axis is None or axis in AXES:
        return axis
    known = ", ".join(f"{label} ({meaning})" for label, meaning in AXES.items())
    fields.refuse(f"unknown axis; known are {known}", "axis", value=axis)
    return None


def _condition_pair(fields: PreregFields) -> tuple[str, ...] | None:
    pair = fields.section("condition_pair")
    if pair is None:
        if "condition_pair" in fields.mapping:
            fields.refuse(f"condition_pair must be a mapping of {' and '.join(CONDITION_KEYS)}", "condition_pair")
        return None
    pair.refuse_unknown(CONDITION_KEYS)
    pair.refuse_missing(*CONDITION_KEYS)
    homogeneous, heterogeneous = pair.name("homogeneous_id"), pair.name("heterogeneous_id")
    if homogeneous is None or heterogeneous is None:
        return None
    if homogeneous == heterogeneous:
        pair.refuse("the two conditions must differ", "heterogeneous_id", value=heterogeneous)
    return homogeneous, heterogeneous


def _names_unless(fields: PreregFields, key: str, open_word: str) -> tuple[str, ...] | None:
    value = fields.mapping.get(key, open_word)
    if value == open_word:
        return None
    if not isinstance(value, list):
        fields.refuse(f"{key} must be the word {open_word} or a list of names", key, value=value)
        return None
    return fields.names(key)


def _refuse_empty_analysis(fields: PreregFields) -> None:
    analysis = fields.mapping.get("analysis", "none declared")
    if not isinstance(analysis, str | dict | list):
        fields.refuse("analysis must be text, a mapping or a list", "analysis", value=analysis)
    elif not (analysis.strip() if isinstance(analysis, str) else analysis):
        fields.refuse("analysis must not be empty; leave the key out", "analysis")


def _hypotheses(fields: PreregFields, metrics: tuple[str, ...]) -> tuple[Hypothesis, ...]:
    read = [_hypothesis(part, metrics) for part in fields.sections("hypotheses")]
    return tuple(hypothesis for hypothesis in read if hypothesis is not None)


def _hypothesis(part: PreregFields, metrics: tuple[str, ...]) -> Hypothesis | None:
    part.refuse_unknown(HYPOTHESIS_KEYS)
    part.refuse_missing("contrast", "metric", "threshold")
    contrast, metric, threshold = _contrast(part), part.text("metric"), part.number("threshold")
    direction = part.choice("direction", SIDES, "greater")
    if metric is not None and metrics and metric not in metrics:
        declared = first_few(metrics, _SHOWN_METRICS)
        part.refuse(f"the metric is not among metrics: {declared}", "metric", value=metric)
    if contrast is None or metric is None or threshold is None:
        return None
    return Hypothesis(contrast, metric, threshold, direction)


def _contrast(part: PreregFields) -> tuple[str, str] | None:
    names = part.names("contrast")
    if names is None:
        return None
    if len(part.mapping["contrast"]) != 2:
        part.refuse("contrast must have two names: the difference is the first minus the second", "contrast")
    return (names[0], names[1]) if len(names) == 2 else None


# Two rules that hold in the whole text of a preregistration, whatever its form and however deep: no pooled (iid)
# bootstrap for a leaderboard run, and one run purpose. The documents' inner keys are free, so a method may be under
# any key; it is found by its own name instead.

PURPOSE = "run_purpose"

PILOT = "pilot"
"""A section with this word in its key is about another run, with its own purpose: never the registered one."""

_IID = re.compile(r"\b(?:i\.?i\.?d\b\.?|independent(?:ly)?,? and identical(?:ly)?)")

_DENIED_BEFORE = re.compile(r"\b(?:no|not|non|never|without|neither|nor|refus\w*|forbid\w*|instead of|rather than|than)"
                            r"(?: \w+){0,2} *$")  # fmt: skip

_MOST_BEFORE = 4
"""The words of the longest denial before: `instead of a pooled`."""

_DENIED_AFTER = re.compile(r"(?: \w+){0,4} (?:not|never|refused|forbidden|excluded|ruled out)\b")

_OF_THE_SIMULATION = re.compile(r"noise|gaussian|jitter|perturb")

_SEPARATORS = re.compile(r"[\s_/+-]+")


def refuse_iid_anywhere(fields: PreregFields, run_purpose: RunPurpose) -> None:
    """Refuse every text in a leaderboard run's document that declares iid resampling and is not refused already."""
    refused = {problem.column for problem in fields.problems}
    for path, value in _own(fields.mapping) if run_purpose == "leaderboard" else ():
        if path != ("bootstrap_method",) and dotted(path) not in refused and _declares_iid(path, value):
            fields.refuse(IID_REFUSED, *path, value=value)


def refuse_other_purposes(fields: PreregFields, run_purpose: RunPurpose) -> None:
    """Refuse an inner run purpose that contradicts the document's; only a pilot has its own."""
    refused = {problem.column for problem in fields.problems}
    for path, value in _own(fields.mapping):
        is_other = len(path) > 1 and path[-1] == PURPOSE and value != run_purpose
        if is_other and dotted(path) not in refused:
            fields.refuse(
                f"the run purpose of the registration is {run_purpose}, and is said once; another run's own stands in "
                f"a section whose key says {PILOT}",
                *path,
                value=value,
            )


def _own(document: Any) -> Iterator[tuple[Path, Any]]:
    """Yield every leaf value with its path, except a pilot's; not recursive, because documents may be deep."""
    waiting: list[tuple[Path, Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, k), v) for k, v in reversed(value.items()) if not _is_pilot(k, v)]
        elif isinstance(value, list):
            waiting += [((*path, at), value[at]) for at in reversed(range(len(value)))]
        else:
            yield path, value


def _is_pilot(key: Any, value: Any) -> bool:
    return isinstance(key, str) and PILOT in key.lower() and isinstance(value, dict) and PURPOSE in value


def _declares_iid(path: Path, value: Any) -> bool:
    keys = [_words(step) for step in path if isinstance(step, str)]
    if any(_OF_THE_SIMULATION.search(key) for key in keys[-2:]):
        return False
    if isinstance(value, str):
        return _says_iid(_words(value))
    return value is not None and value is not False and bool(keys) and _says_iid(keys[-1])


def _words(text: str) -> str:
    return _SEPARATORS.sub(" ", text.casefold()).strip()


def _says_iid(words: str) -> bool:
    if _OF_THE_SIMULATION.search(words):
        return False
    return any(
        not (_DENIED_BEFORE.search(_last_words(words[: found.start()])) or _DENIED_AFTER.match(words, found.end()))
        for found in _IID.finditer(words)
    )


def _last_words(words: str) -> str:
    """Return the end of a text, which is all that a denial may be in: long texts have thousands of matches."""
    return " ".join(words.rstrip(" ").rsplit(" ", _MOST_BEFORE)[-_MOST_BEFORE:]) + " "


# A Pre-Registered ML Manifest (PRML 0.1 and 0.2) as a preregistration of the evaluation form: one claim of one
# metric. What PRML does not cover stays open: tasks, and the entrants if it names no model. In canonical form its
# bytes have the same address here as from `falsify lock`. Source: falsify 0.4.0, `falsify_prml.py`; PRML v0.1 and
# v0.2, sections 2 and 4.

VERSIONS = ("prml/0.1", "prml/0.2")

REQUIRED = ("version", "claim_id", "created_at", "metric", "comparator", "threshold", "dataset", "seed", "producer")

KEYS = (*REQUIRED, "model", "compute_envelope", "prior_hash", "notes", "metric_args")

PARTS = {"dataset": (("id", "hash"), ("id", "hash", "uri")), "producer": (("id",), ("id", "signature"))}
"""The required and the optional keys of each part."""

PRML_SIDES: dict[str, Side] = {">=": "greater", ">": "greater", "<=": "less", "<": "less"}

HASH = r"[0-9a-f]{64}"


def is_prml(fields: PreregFields) -> bool:
    """Say whether a document states that it is a PRML manifest, of whatever version.

    So a misspelt version is reported as such, and not as a document without a form.
    """
    return "claim_id" in fields.mapping or str(fields.mapping.get("version", "")).startswith("prml/")


def read_prml(fields: PreregFields, shared: Prereg) -> Prereg:
    """Add the keys of a PRML manifest to the shared ones, of which it has only the notes."""
    fields.refuse_unknown(KEYS)
    fields.refuse_missing(*REQUIRED)
    fields.choice("version", VERSIONS, VERSIONS[-1])
    for key in ("claim_id", "created_at"):
        fields.text(key)
    for key in PARTS:
        _check_part(fields, key)
    model = fields.section("model")
    entrant = None if model is None else model.name("id")
    claim = _claim(fields, entrant)
    return replace(
        shared,
        entrants=None if entrant is None else (entrant,),
        metrics=() if claim is None or claim.metric is None else (claim.metric,),
        seeds=_seed(fields),
        hypotheses=() if claim is None else (claim,),
    )


def _check_part(fields: PreregFields, key: str) -> None:
    required, known = PARTS[key]
    part = fields.section(key)
    if part is None:
        if key in fields.mapping:
            fields.refuse(f"{key} must be a mapping of {' and '.join(required)}", key, value=fields.mapping[key])
        return
    part.refuse_unknown(known)
    part.refuse_missing(*required)
    part.text("id")
    part.text("hash", pattern=HASH, rule="64 hexadecimal digits in lower case")


def _claim(fields: PreregFields, entrant: str | None) -> Hypothesis | None:
    metric = fields.text("metric", pattern=METRIC_PATTERN, rule=METRIC_RULE)
    threshold, side = fields.number("threshold"), _side(fields)
    if metric is None or threshold is None or side is None:
        return None
    return Hypothesis((entrant or UNNAMED,), metric, threshold, side, "PRML claim")


def _side(fields: PreregFields) -> Side | None:
    if "comparator" not in fields.mapping:
        return None
    comparator = fields.mapping["comparator"]
    if comparator == "==":
        message = "a claim is decided as greater or less, with an interval; == is neither"
        fields.refuse(message, "comparator", value=comparator)
        return None
    written = fields.choice("comparator", tuple(PRML_SIDES), ">=")
    return PRML_SIDES[written]


def _seed(fields: PreregFields) -> tuple[int, ...] | None:
    seed = fields.mapping.get("seed")
    if seed is None:
        return None
    if not is_integer(seed):
        fields.refuse("seed must be an integer or null", "seed", value=seed)
        return None
    return (int(seed),)
