"""docs/prereg.md: every key of a preregistration, by form. Kept up to date by a test; pure."""

from collections.abc import Iterator, Mapping

from app.prereg.document import DOCUMENT_KEYS
from app.prereg.fields import BOOTSTRAP_METHODS, FAILURE_POLICIES, RUN_PURPOSES, SHARED_KEYS
from app.prereg.prereg import AXES, AXIS_KEYS, CONDITION_KEYS, EVALUATION_KEYS, HYPOTHESIS_KEYS, VERSIONS

HEAD = """\
# Preregistrations

A preregistration states before a run what will be measured. It is a YAML file, stored byte for byte under its SHA-256
(`plumbline prereg register`, `POST /preregs`), and never changes. There are three forms; `plumbline prereg check` says
which form a file has and what it commits its run to. This page is generated from the modules that read the forms
(`app/prereg/reference.py`).

"""

SHARED: Mapping[str, str] = {
    "run_purpose": f"{', '.join(RUN_PURPOSES)}: only leaderboard runs are ranked",
    "bootstrap_method": f"{', '.join(BOOTSTRAP_METHODS)}: what is resampled; iid is not accepted for leaderboard runs",
    "git_tag": "the git tag of the code that runs",
    "seeds": "exactly the seeds of the run",
    "failure_policy": f"{', '.join(FAILURE_POLICIES)}: whether a row without a score makes the run inadmissible",
    "notes": "text for readers",
}
OWN: Mapping[str, Mapping[str, str]] = {
    "evaluation": {
        "benchmark": "the benchmark's slug",
        "entrants": "the entrants to be measured; names not yet in use are reserved for the registrant",
        "tasks": "a list of tasks, or all",
        "conditions": "a list of conditions, or all: exactly those of the run",
        "metrics": "the metrics to be reported",
        "hypotheses": f"claims to be decided, each with {', '.join(HYPOTHESIS_KEYS)}; contrast names two entrants or "
        "two conditions, the first minus the second (unknown names are said at registration)",
        "analysis": "text: how the results will be analysed",
    },
    "axis": {
        "axis": f"the axis of CHAMBER: {', '.join(AXES)}",
        "condition_pair": f"the two conditions: {' and '.join(CONDITION_KEYS)}",
        "episodes_per_seed": "episodes in each condition and seed",
        "estimator": "what is estimated, in words",
    },
    "document": {
        "schema_version": "the document's own schema, such as `prereg.handover/v3`",
        "task_id": "the task",
        "revision": "the revision of the document",
        "parameters": "everything that is fixed before the run, in the document's own structure",
        "decision_rules": "the rules by which claims are decided",
    },
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "evaluation": EVALUATION_KEYS,
    "axis": AXIS_KEYS,
    "document": DOCUMENT_KEYS,
}
EXAMPLE = """\
benchmark: fev-bench
entrants: [my-model]
tasks: all
metrics: [SQL, MASE]
seeds: [0, 1, 2]
notes: One run, after the last change of the model.
"""
PRML = f"""\
## PRML

A Pre-Registered ML Manifest ({" and ".join(VERSIONS)}) is accepted unchanged wherever the evaluation form is. Its
metric, comparator and threshold form a claim, decided with an interval (`==` is neither greater nor less, and is
refused); its `seed` is the seed of the run, `null` leaves it open, and a benchmark without seeds counts as seed 0;
`model.id` is the entrant. `dataset`, `producer`, `created_at` and `claim_id` are stored and shown, but bind nothing:
the time that counts is that of the registration. Register the canonical bytes, and their address here is the hash that
`falsify lock` prints.
"""


def prereg_page() -> str:
    """Return the page."""
    return HEAD + "\n".join(_sections()) + "\n"


def _sections() -> Iterator[str]:
    yield f"## Example: the evaluation form\n\n```yaml\n{EXAMPLE}```\n"
    yield from _section("Keys of every form", SHARED, SHARED_KEYS)
    for form, keys in KEYS.items():
        own = tuple(key for key in keys if key not in SHARED_KEYS)
        yield from _section(f"The {form} form", OWN[form], own)
    yield PRML


def _section(title: str, texts: Mapping[str, str], keys: tuple[str, ...]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| key | meaning |\n|---|---|"
    yield from (f"| `{key}` | {texts[key]} |" for key in keys)
    yield ""
