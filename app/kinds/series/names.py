"""Which names the rows of a run may have: records, estimators, metrics. Called by its part of a manifest and by the
readers of a run folder.

An estimator's variant is written `DFA::short_scales`. What lrdbench measures between estimators has made-up names
(`__all_estimators__`, `RS__vs__DFA`, `family:wavelet`); those never become entrants that somebody owns.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from app.names import MAX_NAME, NAME_RULE, is_name

VARIANT_MARK = "::"
ESTIMATOR_RULE = (
    f"{NAME_RULE}; an estimator's does not begin with __ and has no colon, and a variant is written as the estimator's "
    "name, two colons and the variant's name"
)


def refuse_no_estimator(text: str) -> str:
    """Return a text that may name an estimator or a variant. Raises ValueError."""
    if not is_estimator_name(text):
        raise ValueError(f"not a name of an estimator: {ESTIMATOR_RULE}")
    return text


_SCHEMA = {"minLength": 1, "maxLength": MAX_NAME, "description": ESTIMATOR_RULE}
EstimatorName = Annotated[str, AfterValidator(refuse_no_estimator), Field(json_schema_extra=_SCHEMA)]

RECORD_RULE = f"a record's id is {NAME_RULE}"
MAX_DIAGNOSTIC = 300
ESTIMATOR_CELL_RULE = f"printable text on one line, at most {MAX_DIAGNOSTIC} characters"
METRIC_CELL_RULE = "a metric's name holds lower-case letters, digits and underscores, and perhaps a colon and a label"

_METRIC_CELL = re.compile(r"[a-z][a-z0-9_]{0,49}(?::[A-Za-z0-9_. -]{1,100})?")


def is_estimator_name(text: str) -> bool:
    """Say whether `text` may name an estimator, or one of its variants."""
    parts = text.split(VARIANT_MARK)
    return is_name(text) and len(parts) <= 2 and all(_is_part(part) for part in parts)


def _is_part(text: str) -> bool:
    return is_name(text) and not text.startswith("__") and ":" not in text


def slug_of(name: str) -> str:
    """Return what a name of lrdbench's is called in our addresses: `null_specificity` becomes `null-specificity`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")


def is_record_id(text: str) -> bool:
    """Say whether `text` may name a record."""
    return is_name(text)


def is_estimator_cell(text: str) -> bool:
    """Say whether `text` may be in a column of estimators, made-up names included."""
    # What lrdbench measures between two estimators joins their names, so it may be longer than either.
    return 0 < len(text) <= MAX_DIAGNOSTIC and text.isprintable() and text.strip() == text


def is_metric_cell(text: str) -> bool:
    """Say whether `text` may be in a column of metrics."""
    return _METRIC_CELL.fullmatch(text) is not None
