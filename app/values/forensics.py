"""Findings about evidence that may have an innocent reason: shown beside it, machine-readable, never a refusal.

Created by `app.admission.forensics` and `app.admission.identity`, kept by `app.store.fingerprints`, shown by the pages.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.values.fingerprints import Fingerprint

EXACT_BEST, ONE_VALUE, LEAK_SERVES = "exact_best", "one_value", "leak_serves"
LABEL_HOLDER = "label_holder"
FLAGS: Mapping[str, str] = {
    "repeated_seed": "Rows with the same digits under several seeds",
    "same_seeds": "The same results under several seeds, item by item, which chance cannot explain",
    "shuffled_seeds": "As many of each result under several seeds, everywhere at once, which chance cannot explain",
    "repeated_condition": "Rows with the same digits under several conditions",
    "same_rows": "Rows with the same digits under two entrants",
    "same_results": "The same results row by row under two entrants, which chance cannot explain",
    "near_rows": "Rows that are nearly another entrant's, as they are, moved or scaled",
    "same_bytes": "The same file under two entrants",
    "equal_run": "Rows one after another with the same digits",
    EXACT_BEST: "Values that are exactly the best possible",
    ONE_VALUE: "One value that is nearly all of an average without a limit",
    LEAK_SERVES: "A rank that it owes to saying of itself that it has seen the data of tasks",
    "other_results": "The same seeds, items and states with other results than before",
    "began_before": "The run began before its registration, as an earlier submission of the entrant said",
    "identity": "The run says of itself something else than its registration or an earlier run",
    "lookalikes": "A name that looks like another entrant’s, in other letters or marks",
    LABEL_HOLDER: "Who sent it can read the private labels that it is scored against",
    "own_grid": "Something else is asked of it than of others, and who submitted it is no steward of the benchmark",
    "no_prereg_in_bundle": "A bundle without the preregistration that it cites",
}
"""The flags, with their texts, in the order in which they are shown."""


@dataclass(frozen=True)
class Finding:
    """One flag on one entrant, or on all of them, with the sentence that says what was seen."""

    flag: str
    entrant: str | None
    sentence: str


@dataclass(frozen=True, repr=False)
class Forensics:
    """The findings in the files of one submission alone, and the fingerprints to compare them with others."""

    fingerprints: tuple[Fingerprint, ...] = ()
    findings: tuple[Finding, ...] = ()


def flags_by_entrant(findings: tuple[Finding, ...], entrants: Iterable[str]) -> dict[str, list[str]]:
    """Return the flags of each entrant, each once, in the order of FLAGS."""
    seen: dict[str | None, set[str]] = {}
    for finding in findings:
        seen.setdefault(finding.entrant, set()).add(finding.flag)
    of_all = seen.get(None, set())
    return {name: [flag for flag in FLAGS if flag in of_all | seen.get(name, set())] for name in entrants}
