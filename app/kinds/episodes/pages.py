"""What the pages of a benchmark of episodes say. Read by `app.kinds.episodes.kind`."""

from collections.abc import Sequence

from app.kinds.episodes.example import example
from app.kinds.pages import Pages, Rule
from app.manifest.manifest import Manifest


def _rules(manifest: Manifest) -> Sequence[Rule]:
    return (
        Rule(
            "Seeds, episodes and conditions exactly as registered; intervals resample ",
            "seeds, then episodes",
            "cluster",
            ", never all episodes together.",
        ),
        Rule(
            "Every episode has its scores: an empty one keeps a run out under the failure policy strict, and counts "
            "as the worst there is under best_effort. Where no preregistration says which, the policy is "
            f"{manifest.admission.failure_policy}."
        ),
        Rule("Power and debug runs are stored and shown, never ranked."),
    )


PAGES = Pages(example=example, rules=_rules)
