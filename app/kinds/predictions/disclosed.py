"""What is disclosed of private labels: measured on the part that counts now, and rounded for publication.

Called by `app.kinds.predictions.kind`, which measures by nothing else; pure. Labels that are no secret, and those that
a submission brings, pass as they are.
"""

from dataclasses import replace

from app.boards.measured import ALL_ITEMS, PUBLIC_PART, EntrantEvidence, Measurement
from app.boards.methods.estimate.spec import EstimateBoard
from app.kinds.predictions.grain import Grain, coarse_table
from app.kinds.predictions.label_parts import narrow
from app.kinds.predictions.manifest_part import scoring_of
from app.kinds.predictions.measure import measure_predictions
from app.manifest.asked import PRIVATE_PART
from app.manifest.manifest import Manifest
from app.manifest.scoring import Scoring
from app.values.table import Table


def measure_disclosed(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Return every metric of one entrant, rounded for publication.

    Before the close it is of the public part alone. After it the private part decides, and the metrics of the public
    part stand beside as `<metric>:public_part`. Exactly, for stewards, so do those of all items, `<metric>:all_items`.
    """
    rules = scoring_of(manifest)
    if rules is None:
        return measure_predictions(manifest, spec, evidence)
    if not is_closed(manifest):
        return _measure(manifest, spec, narrow(evidence, public=True), rules)
    final = _measure(manifest, spec, narrow(evidence, public=False), rules)
    if not _is_divided(evidence):
        return final
    before = _measure(manifest, spec, narrow(evidence, public=True), rules)
    beside = {f"{metric}:{PUBLIC_PART}": before.estimates[metric] for metric in spec.metrics}
    if manifest.asked.facts.is_exact:
        whole = _measure(manifest, spec, evidence, rules)
        beside |= {f"{metric}:{ALL_ITEMS}": whole.estimates[metric] for metric in spec.metrics}
    return replace(final, estimates={**final.estimates, **beside})


def is_closed(manifest: Manifest) -> bool:
    """Say whether the private part decides by now."""
    return manifest.asked.facts.part == PRIVATE_PART


def _is_divided(evidence: EntrantEvidence) -> bool:
    return any(labels.public is not None and not labels.public.all() for labels in evidence.labels.values())


def _measure(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence, rules: Scoring) -> Measurement:
    exact = measure_predictions(manifest, spec, evidence)
    return exact if manifest.asked.facts.is_exact else grain_of(rules, spec).measurement(exact, evidence.labels)


def grain_of(rules: Scoring, spec: EstimateBoard) -> Grain:
    """Return the precision at which a board on private labels is published."""
    return Grain(rules.digits, spec.uncertainty.level)


def coarse(manifest: Manifest, table: Table) -> Table:
    """Return a table of a board of private labels with what was computed between entrants rounded too."""
    rules = scoring_of(manifest)
    return table if rules is None or manifest.asked.facts.is_exact else coarse_table(table, rules.digits)


def about_parts(manifest: Manifest) -> tuple[str, ...]:
    """Return the notes of a board on private labels about the part it uses."""
    rules = scoring_of(manifest)
    if rules is None or rules.public_share >= 1.0:
        return ()
    share = f"{100 * rules.public_share:.3g} %"
    if is_closed(manifest):
        return (
            f"Closed: the private part decides. What was shown before is of the public part, {share} of the items.",
        )
    when = "" if rules.closes_at is None else f" on {rules.closes_at:%Y-%m-%d %H:%M %Z}"
    return (f"Scores are of the public part, {share} of the items. The private part decides when this closes{when}.",)
