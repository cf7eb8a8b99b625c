"""Preregistrations of every form, and the problems of a changed one."""

import pytest

from app.errors import PreregRejected, Problem
from app.prereg.prereg import parse_prereg

AXIS = """
axis: AS
condition_pair: {homogeneous_id: one_arm, heterogeneous_id: two_arms}
seeds: [0, 1, 2]
episodes_per_seed: 20
estimator: iqm_success_rate
git_tag: prereg-1
"""

DOCUMENT = """
schema_version: 1
task_id: carry
git_tag: prereg-2
parameters: {evaluation: {n_resamples: 2000}}
decision_rules: All rows ship.
"""

EVALUATION = """
benchmark: fev-bench
metrics: [SQL]
"""

FORMS = {"axis": AXIS, "document": DOCUMENT, "evaluation": EVALUATION}

IID_REFUSED = "iid bootstrap is not permitted for leaderboard entries; use cluster (default) or hierarchical."


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    """Return the problems for which a preregistration is refused."""
    with pytest.raises(PreregRejected) as caught:
        parse_prereg(text.encode() if isinstance(text, str) else text)
    return caught.value.problems


def with_key(form: str, line: str) -> str:
    """Return the smallest preregistration of a form with `line` in the place of the key's own line."""
    key = line.split(":")[0]
    kept = [own for own in FORMS[form].strip().splitlines() if not own.startswith(f"{key}:")]
    return "\n".join([*kept, line])
