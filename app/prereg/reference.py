"""docs/prereg.md: every key of a preregistration, by form. Kept up to date by a test; pure."""

from collections.abc import Iterator, Mapping

from app.prereg.document import DOCUMENT_KEYS
from app.prereg.fields import SHARED_KEYS
from app.prereg.prereg import AXIS_KEYS, EVALUATION_KEYS, VERSIONS

HEAD = """\
# Preregistrations

A preregistration states before a run what will be measured. It is a YAML file, stored byte for byte under its SHA-256
(`plumbline prereg register`, `POST /preregs`), and never changes. There are three forms; `plumbline prereg check` says
which form a file has and what it commits its run to. This page is generated from the modules that read the forms
(`app/prereg/reference.py`).

"""

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
    yield from _section("Keys of every form", SHARED_KEYS)
    for form, keys in (("evaluation", EVALUATION_KEYS), ("axis", AXIS_KEYS), ("document", DOCUMENT_KEYS)):
        yield from _section(f"The {form} form", {key: text for key, text in keys.items() if key not in SHARED_KEYS})
    yield PRML


def _section(title: str, keys: Mapping[str, str]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| key | meaning |\n|---|---|"
    yield from (f"| `{key}` | {text} |" for key, text in keys.items())
    yield ""
