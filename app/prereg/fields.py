"""Read the keys of a preregistration one by one, noting every problem with its line and path. After noting a problem
each method returns None (or the default), so that reading continues and the submitter sees all problems at once.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from app.errors import Problem
from app.names import NAME_RULE, clip_for_message, is_name, nearest
from app.yaml import ParsedYaml, Path, dotted

MAX_TEXT = 200

_MAX_SUGGESTIONS = 20  # comparing thousands of unknown keys with every known one would take seconds

Choice = TypeVar("Choice", bound=str)


@dataclass(frozen=True)
class PreregFields:
    """One mapping of the document, the path to it, and the problems that all parts of the document share."""

    document: ParsedYaml
    problems: list[Problem]
    path: Path
    mapping: dict[str, Any]

    def refuse(self, message: str, *steps: str | int, value: Any = None) -> None:
        """Note a problem at the path below this mapping."""
        path = (*self.path, *steps)
        shown = None if isinstance(value, dict | list) else _shown(value)
        self.problems.append(Problem(message, row=self.document.line(path), column=dotted(path), value=shown))

    def refuse_missing(self, *keys: str) -> None:
        """Refuse each missing one of `keys`."""
        for key in keys:
            if key not in self.mapping:
                self.refuse(f"the key {key} is required", key)

    def refuse_unknown(self, allowed: Collection[str]) -> None:
        """Refuse unknown keys, suggesting the nearest known one."""
        unknown = [key for key in self.mapping if key not in allowed]
        for position, key in enumerate(unknown):
            near = nearest(key, allowed) if position < _MAX_SUGGESTIONS else None
            hint = f"; did you mean {near}?" if near else f"; known are {', '.join(sorted(allowed))}"
            self.refuse("unknown key" + hint, key, value=key)

    def text(self, key: str, *, pattern: str | None = None, rule: str = "") -> str | None:
        """Return a short text that is not blank and, with `pattern`, matches it completely."""
        value = self.mapping.get(key)
        if key not in self.mapping:
            return None
        if not isinstance(value, str):
            self.refuse(f"{key} must be text", key, value=value)
        elif not value.strip():
            self.refuse(f"{key} must not be empty", key, value=value)
        elif len(value) > MAX_TEXT:
            self.refuse(f"{key} must have at most {MAX_TEXT} characters", key, value=value)
        elif pattern is not None and re.fullmatch(pattern, value) is None:
            self.refuse(f"{key} must be {rule}", key, value=value)
        else:
            return value
        return None

    def name(self, key: str) -> str | None:
        """Return a name that may be used in tables and addresses."""
        value = self.text(key)
        if value is not None and not is_name(value):
            self.refuse(f"{key} must be {NAME_RULE}", key, value=value)
            return None
        return value

    def choice(self, key: str, allowed: Sequence[Choice], default: Choice) -> Choice:
        """Return one of `allowed`."""
        value = self.mapping.get(key, default)
        for choice in allowed:
            if value == choice:
                return choice
        near = nearest(value, allowed)
        hint = f"; did you mean {near}?" if near else ""
        self.refuse(f"{key} must be one of {', '.join(allowed)}{hint}", key, value=value)
        return default

    def count(self, key: str) -> int | None:
        """Return a whole number of at least 1."""
        value: Any = self.mapping.get(key)
        if key not in self.mapping:
            return None
        if not is_integer(value) or value < 1:
            self.refuse(f"{key} must be a whole number of at least 1", key, value=value)
            return None
        return int(value)

    def number(self, key: str) -> float | None:
        """Return a number; a boolean does not count."""
        value = self.mapping.get(key)
        if key not in self.mapping:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(f"{key} must be a number", key, value=value)
            return None
        return float(value)

    def items(self, key: str) -> list[Any] | None:
        """Return a list that is not empty."""
        value = self.mapping.get(key)
        if key not in self.mapping:
            return None
        if not isinstance(value, list):
            self.refuse(f"{key} must be a list", key, value=value)
        elif not value:
            self.refuse(f"{key} must not be empty", key)
        else:
            return value
        return None

    def seeds(self, key: str) -> tuple[int, ...] | None:
        """Return a list of distinct integers."""
        seeds = self.items(key)
        if seeds is None:
            return None
        for position, seed in enumerate(seeds):
            if not is_integer(seed):
                self.refuse("a seed must be an integer", key, position, value=seed)
        integers = [seed for seed in seeds if is_integer(seed)]
        self._refuse_repeats(key, integers, "seed")
        return tuple(integers)

    def names(self, key: str, *, pattern: str | None = None, rule: str = NAME_RULE) -> tuple[str, ...] | None:
        """Return a list of distinct names, or of texts that match `pattern` completely."""
        values = self.items(key)
        if values is None:
            return None
        names = []
        for position, value in enumerate(values):
            fits = isinstance(value, str) and (is_name(value) if pattern is None else re.fullmatch(pattern, value))
            if fits:
                names.append(value)
            else:
                self.refuse(f"not a name: {rule}", key, position, value=value)
        self._refuse_repeats(key, names, "name")
        return tuple(names)

    def section(self, *steps: str) -> "PreregFields | None":
        """Return the mapping at the path `steps`; None when there is none."""
        value: Any = self.mapping
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return (
            PreregFields(self.document, self.problems, (*self.path, *steps), value) if isinstance(value, dict) else None
        )

    def sections(self, key: str) -> list["PreregFields"]:
        """Return the mappings of a list."""
        sections = []
        for position, value in enumerate(self.items(key) or []):
            if isinstance(value, dict):
                sections.append(PreregFields(self.document, self.problems, (*self.path, key, position), value))
            else:
                self.refuse(f"each of {key} must be a mapping", key, position, value=value)
        return sections

    def _refuse_repeats(self, key: str, values: Sequence[str | int], noun: str) -> None:
        seen: set[str | int] = set()
        for value in values:
            if value in seen:
                self.refuse(f"the {noun} {value} is listed more than once", key, value=value)
            seen.add(value)


def is_integer(value: Any) -> bool:
    """Say whether `value` is an integer; unlike in Python, a boolean is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else clip_for_message(str(value))


# A preregistration as values: what was declared before the run, whatever its form.
#
# Parsed by `app.prereg.prereg`; compared with the evidence by `app.admission.rules`, shown on pages.

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


# What the three forms of a preregistration share: six keys, and a rule about two of them.

RUN_PURPOSES: tuple[RunPurpose, ...] = ("leaderboard", "power", "debug")

BOOTSTRAP_METHODS: tuple[BootstrapMethod, ...] = ("cluster", "hierarchical", "iid")

FAILURE_POLICIES: tuple[FailurePolicy, ...] = ("strict", "best_effort")

SHARED_KEYS: Mapping[str, str] = {
    "run_purpose": f"{', '.join(RUN_PURPOSES)}: only leaderboard runs are ranked",
    "bootstrap_method": f"{', '.join(BOOTSTRAP_METHODS)}: what is resampled; iid is not accepted for leaderboard runs",
    "git_tag": "the git tag of the code that runs",
    "seeds": "exactly the seeds of the run",
    "failure_policy": f"{', '.join(FAILURE_POLICIES)}: whether a row without a score makes the run inadmissible",
    "notes": "text for readers",
}
"""The keys that every form may have, each with what it means."""

# The wording of CHAMBER's own refusal, which its users know and search for.
IID_REFUSED = "iid bootstrap is not permitted for leaderboard entries; use cluster (default) or hierarchical."


def read_shared(fields: PreregFields, form: Form) -> Prereg:
    """Return a preregistration with the keys that all forms share."""
    shared = Prereg(
        form=form,
        document=fields.mapping,
        run_purpose=fields.choice("run_purpose", RUN_PURPOSES, "leaderboard"),
        bootstrap_method=fields.choice("bootstrap_method", BOOTSTRAP_METHODS, "cluster"),
        failure_policy=fields.choice("failure_policy", FAILURE_POLICIES, "strict"),
        git_tag=fields.text("git_tag"),
        seeds=fields.seeds("seeds"),
        notes=_notes(fields),
    )
    refuse_iid(fields, "bootstrap_method", shared.run_purpose, shared.bootstrap_method)
    return shared


def refuse_iid(fields: PreregFields, key: str, run_purpose: RunPurpose, method: BootstrapMethod) -> None:
    """Refuse the iid bootstrap for the leaderboard: episodes of one seed are not independent of each other."""
    if run_purpose == "leaderboard" and method == "iid":
        fields.refuse(IID_REFUSED, key, value=method)


def _notes(fields: PreregFields) -> str | None:
    notes = fields.mapping.get("notes")
    if notes is not None and not isinstance(notes, str):
        fields.refuse("notes must be text", "notes", value=notes)
        return None
    return notes
