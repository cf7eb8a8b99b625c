"""A preregistration as values: what was declared before the run, whatever its form.

Parsed by `app.prereg.prereg`; compared with the evidence by `app.admission.rules`, shown on pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Form = Literal["axis", "document", "evaluation"]
RunPurpose = Literal["leaderboard", "power", "debug"]
BootstrapMethod = Literal["cluster", "hierarchical", "iid"]
FailurePolicy = Literal["strict", "best_effort"]
Side = Literal["greater", "less"]


@dataclass(frozen=True)
class Hypothesis:
    """One claim: in `metric`, the first of `contrast` minus the second is greater or less than `threshold`.

    A single name is an arm, whose own mean is compared with the threshold. Without a metric it is about the success
    rate, or the ranking rate. `name` is the document's name for it.
    """

    contrast: tuple[str, ...]
    metric: str | None
    threshold: float
    direction: Side
    name: str | None = None


@dataclass(frozen=True)
class Prereg:
    """A valid preregistration. None leaves a value open; empty `metrics` means that none are named.

    `episodes_per_seed` counts the episodes of one seed in one condition. `own_partner` names the entrants evaluated as
    the pair they were trained as, instead of under the others' conditions. `policies` are the entrants' policies, by
    name, where a document states them. `document` is the parsed text: plain values, ready for JSON.
    """

    form: Form
    document: Mapping[str, Any]
    run_purpose: RunPurpose = "leaderboard"
    bootstrap_method: BootstrapMethod = "cluster"
    failure_policy: FailurePolicy = "strict"
    git_tag: str | None = None
    notes: str | None = None
    seeds: tuple[int, ...] | None = None
    benchmark: str | None = None
    entrants: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = ()
    conditions: tuple[str, ...] | None = None
    own_partner: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(default_factory=dict)
    partner_set: str | None = None
    task_version: str | None = None
    episodes_per_seed: int | None = None
    axis: str | None = None
    estimator: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
