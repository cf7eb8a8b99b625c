"""What the files of a run state about the run itself, besides its scores, and what the forensics find on it.

Created by `app.kinds`, stored with the submission and shown; `app.admission.rules` compares it with the prereg.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, Self

from app.values.fingerprints import Fingerprint


@dataclass(frozen=True)
class BundleFacts:
    """One result bundle, or one run file, as it describes itself; None for what it does not state.

    `prereg_sha256` and `prereg_blob_sha1` are of the bytes of the prereg inside the bundle, `cited_blob_sha1` is the
    one that the bundle's description cites. `seeds` are as listed, repeats kept. `summary` holds the values that the
    bundle claims, by their own names (`success_iqm`, `success_ci_low`, `n_resamples`). `files` are the positions of its
    files in the submission. `identity` is everything it states about what was run, as text: policy, partners, packages,
    platform, command. `brings_prereg`: its layout includes the preregistration itself.
    """

    name: str
    entrant: str | None = None
    task: str | None = None
    schema_version: int | None = None
    dirty: bool | None = None
    run_purpose: str | None = None
    bootstrap_method: str | None = None
    code_commit: str | None = None
    git_tag: str | None = None
    prereg_sha256: str | None = None
    prereg_blob_sha1: str | None = None
    cited_blob_sha1: str | None = None
    seeds: tuple[int, ...] | None = None
    episodes_per_seed: int | None = None
    summary: Mapping[str, float | int | None] = field(default_factory=dict)
    files: tuple[int, ...] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    brings_prereg: bool = False


@dataclass(frozen=True)
class ClaimedValue:
    """A value that a run computed itself, to be compared with ours; None where the run states null.

    `table` is one of lrdbench's: per_stratum_metrics, benchmark_uncertainty or leaderboard. `entrant` is the name in
    that table, which may be artificial (`RS__vs__DFA`, `DFA__minus__RS`). `metric` has its own level in its name
    (`coverage@0.95`), or is rank, score or a component of a leaderboard. `task` is the stratum, `balanced_global`, or
    None in a leaderboard. `nominal` is the level of the interval from `low` to `high`, `aggregation` says what was
    resampled, `board` names the leaderboard.
    """

    table: str
    entrant: str
    metric: str
    task: str | None
    nominal: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    aggregation: str | None = None
    board: str | None = None


@dataclass(frozen=True)
class RunFacts:
    """What all files of one submission state.

    `described` holds facts by entrant that are shown and never computed with: an estimator's family, its parameters.
    `claimed` are aggregates, intervals and ranks that the run computed itself. `own_labels`: the predictions came with
    the submitter's own labels, and are scored only against those.
    """

    bundles: tuple[BundleFacts, ...] = ()
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    claimed: tuple[ClaimedValue, ...] = ()
    own_labels: bool = False

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the facts that `as_dict` wrote."""
        bundles = (
            BundleFacts(
                **{
                    **bundle,
                    "seeds": None if bundle["seeds"] is None else tuple(bundle["seeds"]),
                    "files": tuple(bundle["files"]),
                }
            )
            for bundle in stored.get("bundles", ())
        )
        claimed = tuple(ClaimedValue(*values) for values in stored.get("claimed", ()))
        return cls(
            bundles=tuple(bundles),
            described=stored.get("described", {}),
            claimed=claimed,
            own_labels=stored.get("own_labels", False),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as JSON-ready values."""
        return {
            "bundles": [
                {**asdict(bundle), "summary": dict(bundle.summary), "identity": dict(bundle.identity)}
                for bundle in self.bundles
            ],
            "described": {name: dict(facts) for name, facts in self.described.items()},
            # There are many: lists of values, in the order of the fields.
            "claimed": [list(astuple(claim)) for claim in self.claimed],
            "own_labels": self.own_labels,
        }


# Findings about evidence that may have an innocent reason: shown beside it, machine-readable, never a refusal.
#
# Created by `app.admission.forensics` and `app.admission.case`, kept by `app.store.submissions`, shown by the
# pages.

EXACT_BEST, ONE_VALUE, FAR_BEYOND, LEAK_SERVES = "exact_best", "one_value", "far_beyond", "leak_serves"

LABEL_HOLDER = "label_holder"

FLAGS: Mapping[str, str] = {
    "repeated_seed": "Rows with the same digits under several seeds",
    "same_seeds": "The same results under several seeds, item by item, which chance cannot explain",
    "shuffled_seeds": "As many of each result under several seeds, everywhere at once, which chance cannot explain",
    "steady_seeds": "Seeds that are more alike than chance allows",
    "near_seeds": "Nearly the same values under several seeds, as a run with a little noise has them",
    "repeated_condition": "Rows with the same digits under several conditions",
    "same_rows": "Rows with the same digits under two entrants",
    "same_results": "The same results row by row under two entrants, which chance cannot explain",
    "near_rows": "Rows that are nearly another entrant's, as they are, moved or scaled",
    "same_bytes": "The same file under two entrants",
    "equal_run": "Rows one after another with the same digits",
    EXACT_BEST: "Values that are exactly the best possible, or errors of zero or less",
    ONE_VALUE: "One value that is nearly all of an average without a limit",
    FAR_BEYOND: "Values ten times better, or nearer to the best, than other owners’ second best, on a quarter of them",
    LEAK_SERVES: "A better rank because of tasks whose data it says it has seen",
    "other_results": "The same seeds, items and states with other results than before",
    "renamed": "A later name of an owner who withdrew an earlier one",
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
