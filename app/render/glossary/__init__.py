"""The glossary: each number, interval and rule in plain words, with formula and source.

Shown at /glossary; `Column.glossary` of a table names the entry that explains the column. A module for each subject;
what only one kind of evidence has is explained in that kind's own `glossary.py`.
"""

from app.kinds.known import KINDS
from app.render.glossary.claims import CLAIMS
from app.render.glossary.evidence import EVIDENCE
from app.render.glossary.gaps import GAPS
from app.render.glossary.provenance import PROVENANCE
from app.render.glossary.scores import SCORES
from app.render.glossary.uncertainty import UNCERTAINTY
from app.values.glossary_entry import Entry


def glossary_entries() -> tuple[Entry, ...]:
    """Return every explained term: those of all benchmarks, and those that each kind of evidence brings."""
    of_kinds = (entry for kind in KINDS.values() for entry in kind.glossary())
    return (*SCORES, *PROVENANCE, *of_kinds, *UNCERTAINTY, *GAPS, *CLAIMS, *EVIDENCE)
