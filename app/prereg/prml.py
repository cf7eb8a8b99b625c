"""A Pre-Registered ML Manifest (PRML 0.1 and 0.2) as a preregistration of the evaluation form: one claim of one metric.

Called by `app.prereg.prereg`. What PRML does not cover stays open: tasks, and the entrants if it names no model. In
canonical form its bytes have the same address here as from `falsify lock`.
Source: falsify 0.4.0, `falsify_prml.py`; PRML v0.1 and v0.2, sections 2 and 4.
"""

from dataclasses import replace

from app.names import METRIC_PATTERN, METRIC_RULE
from app.prereg.decisions import UNNAMED
from app.prereg.fields import Fields, is_integer
from app.prereg.values import Hypothesis, Prereg, Side

VERSIONS = ("prml/0.1", "prml/0.2")
REQUIRED = ("version", "claim_id", "created_at", "metric", "comparator", "threshold", "dataset", "seed", "producer")
KEYS = (*REQUIRED, "model", "compute_envelope", "prior_hash", "notes", "metric_args")
PARTS = {"dataset": (("id", "hash"), ("id", "hash", "uri")), "producer": (("id",), ("id", "signature"))}
"""The required and the optional keys of each part."""
SIDES: dict[str, Side] = {">=": "greater", ">": "greater", "<=": "less", "<": "less"}
HASH = r"[0-9a-f]{64}"


def is_prml(fields: Fields) -> bool:
    """Say whether a document states that it is a PRML manifest, of whatever version.

    So a misspelt version is reported as such, and not as a document without a form.
    """
    return "claim_id" in fields.mapping or str(fields.mapping.get("version", "")).startswith("prml/")


def read_prml(fields: Fields, shared: Prereg) -> Prereg:
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


def _check_part(fields: Fields, key: str) -> None:
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


def _claim(fields: Fields, entrant: str | None) -> Hypothesis | None:
    metric = fields.text("metric", pattern=METRIC_PATTERN, rule=METRIC_RULE)
    threshold, side = fields.number("threshold"), _side(fields)
    if metric is None or threshold is None or side is None:
        return None
    return Hypothesis((entrant or UNNAMED,), metric, threshold, side, "PRML claim")


def _side(fields: Fields) -> Side | None:
    if "comparator" not in fields.mapping:
        return None
    comparator = fields.mapping["comparator"]
    if comparator == "==":
        message = "a claim is decided as greater or less, with an interval; == is neither"
        fields.refuse(message, "comparator", value=comparator)
        return None
    written = fields.choice("comparator", tuple(SIDES), ">=")
    return SIDES[written]


def _seed(fields: Fields) -> tuple[int, ...] | None:
    seed = fields.mapping.get("seed")
    if seed is None:
        return None
    if not is_integer(seed):
        fields.refuse("seed must be an integer or null", "seed", value=seed)
        return None
    return (int(seed),)
