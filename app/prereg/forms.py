"""The two closed forms of a preregistration: CHAMBER's axis form and our evaluation form.

Called by `app.prereg.prereg`. Source of the axis form: `PreregistrationSpec` of CHAMBER, and its six registered axes.
"""

from dataclasses import replace

from app.names import METRIC_PATTERN, METRIC_RULE, SLUG_PATTERN, SLUG_RULE
from app.prereg.decisions import gap_of_axis
from app.prereg.fields import Fields
from app.prereg.shared import SHARED_KEYS
from app.prereg.values import Hypothesis, Prereg, Side

AXES = {
    "AS": "action space",
    "OM": "observation modality",
    "CR": "control rate",
    "CM": "communication",
    "PF": "partner familiarity",
    "SA": "safety",
}
AXIS_KEYS = (*SHARED_KEYS, "axis", "condition_pair", "episodes_per_seed", "estimator")
CONDITION_KEYS = ("homogeneous_id", "heterogeneous_id")

EVALUATION_KEYS = (*SHARED_KEYS, "benchmark", "entrants", "tasks", "conditions", "metrics", "hypotheses", "analysis")
HYPOTHESIS_KEYS = ("contrast", "metric", "threshold", "direction")
SIDES: tuple[Side, ...] = ("greater", "less")
_SHOWN_METRICS = 10


def read_axis(fields: Fields, shared: Prereg) -> Prereg:
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


def _axis(fields: Fields) -> str | None:
    axis = fields.text("axis")
    if axis is None or axis in AXES:
        return axis
    known = ", ".join(f"{label} ({meaning})" for label, meaning in AXES.items())
    fields.refuse(f"unknown axis; known are {known}", "axis", value=axis)
    return None


def _condition_pair(fields: Fields) -> tuple[str, ...] | None:
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


def read_evaluation(fields: Fields, shared: Prereg) -> Prereg:
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


def _names_unless(fields: Fields, key: str, open_word: str) -> tuple[str, ...] | None:
    value = fields.mapping.get(key, open_word)
    if value == open_word:
        return None
    if not isinstance(value, list):
        fields.refuse(f"{key} must be the word {open_word} or a list of names", key, value=value)
        return None
    return fields.names(key)


def _refuse_empty_analysis(fields: Fields) -> None:
    analysis = fields.mapping.get("analysis", "none declared")
    if not isinstance(analysis, str | dict | list):
        fields.refuse("analysis must be text, a mapping or a list", "analysis", value=analysis)
    elif not (analysis.strip() if isinstance(analysis, str) else analysis):
        fields.refuse("analysis must not be empty; leave the key out", "analysis")


def _hypotheses(fields: Fields, metrics: tuple[str, ...]) -> tuple[Hypothesis, ...]:
    read = [_hypothesis(part, metrics) for part in fields.sections("hypotheses")]
    return tuple(hypothesis for hypothesis in read if hypothesis is not None)


def _hypothesis(part: Fields, metrics: tuple[str, ...]) -> Hypothesis | None:
    part.refuse_unknown(HYPOTHESIS_KEYS)
    part.refuse_missing("contrast", "metric", "threshold")
    contrast, metric, threshold = _contrast(part), part.text("metric"), part.number("threshold")
    direction = part.choice("direction", SIDES, "greater")
    if metric is not None and metrics and metric not in metrics:
        declared = ", ".join(metrics[:_SHOWN_METRICS]) + (", …" if len(metrics) > _SHOWN_METRICS else "")
        part.refuse(f"the metric is not among metrics: {declared}", "metric", value=metric)
    if contrast is None or metric is None or threshold is None:
        return None
    return Hypothesis(contrast, metric, threshold, direction)


def _contrast(part: Fields) -> tuple[str, str] | None:
    names = part.names("contrast")
    if names is None:
        return None
    if len(part.mapping["contrast"]) != 2:
        part.refuse("contrast must have two names: the difference is the first minus the second", "contrast")
    return (names[0], names[1]) if len(names) == 2 else None
