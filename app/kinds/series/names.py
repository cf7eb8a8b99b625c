"""Which names the rows of a run may have: records, estimators, metrics. Called by its part of a manifest and by the
readers of a run folder.

An estimator's variant is written `DFA::short_scales`. What lrdbench measures between estimators has made-up names
(`__all_estimators__`, `RS__vs__DFA`, `family:wavelet`); those never become entrants that somebody owns.
"""

import re
from typing import Annotated

from pydantic import StringConstraints

from app.names import MAX_NAME, NAME_PATTERN, NAME_RULE, is_name

VARIANT_MARK = "::"
ESTIMATOR_PATTERN = rf"{NAME_PATTERN}(?:{VARIANT_MARK}{NAME_PATTERN})?"
ESTIMATOR_RULE = f"{NAME_RULE}; a variant is written as the estimator's name, two colons and the variant's name"
EstimatorName = Annotated[str, StringConstraints(pattern=f"^{ESTIMATOR_PATTERN}$", max_length=MAX_NAME)]

MAX_RECORD = 200
RECORD_RULE = f"a record's id is printable, at most {MAX_RECORD} characters, and does not begin like a formula"
MAX_DIAGNOSTIC = 300
ESTIMATOR_CELL_RULE = "letters, digits, spaces and . _ + ( ) : -, beginning with a letter, a digit or an underscore"
METRIC_CELL_RULE = "a metric's name holds lower-case letters, digits and underscores, and perhaps a colon and a label"

_ESTIMATOR_CELL = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._+(): -]{{0,{MAX_DIAGNOSTIC - 1}}}")
_METRIC_CELL = re.compile(r"[a-z][a-z0-9_]{0,49}(?::[A-Za-z0-9_. -]{1,100})?")


def is_estimator_name(text: str) -> bool:
    """Say whether `text` may name an estimator, or one of its variants."""
    parts = text.split(VARIANT_MARK)
    return len(text) <= MAX_NAME and len(parts) <= 2 and all(is_name(part) for part in parts)


def slug_of(name: str) -> str:
    """Return what a name of lrdbench's is called in our addresses: `null_specificity` becomes `null-specificity`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")


def is_record_id(text: str) -> bool:
    """Say whether `text` may name a record."""
    return len(text) <= MAX_RECORD and text.isprintable() and text.strip() == text and text[0] not in "=+-@"


def is_estimator_cell(text: str) -> bool:
    """Say whether `text` may stand in a column of estimators, made-up names included."""
    return _ESTIMATOR_CELL.fullmatch(text) is not None


def is_metric_cell(text: str) -> bool:
    """Say whether `text` may stand in a column of metrics."""
    return _METRIC_CELL.fullmatch(text) is not None
