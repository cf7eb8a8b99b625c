"""What the files of a run state about the run itself, besides its scores: admission compares it with the prereg.

Created by `app.kinds`, read by `app.admission.rules`, stored with the submission and shown.
"""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, Self


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
