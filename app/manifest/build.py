"""Builds a manifest from a parsed document: allowed keys, their types, and the rules over several keys.

Why: docs/adr/018-versions-of-a-manifest.md.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from app.errors import ManifestRejected, Problem
from app.manifest.model import (
    MOST_VALUES,
    Common,
    Grid,
    KindPart,
    Leaderboard,
    Manifest,
    Metric,
    OpenTasks,
    Part,
    complaints_about,
)
from app.names import (
    METRIC_PATTERN,
    METRIC_RULE,
    SLUG_PATTERN,
    SLUG_RULE,
    clip_for_message,
    first_few,
    name_key,
    nearest,
    repeated,
)
from app.yaml import ParsedYaml

Boards = Mapping[str, type[Leaderboard]]

AnyOf = TypeVar("AnyOf", bound=Part)


class KindKeys(NamedTuple):
    """What a manifest needs to know of a kind of evidence.

    `part` is the class of its keys, `methods` those that can read it without naming it, `vocabulary` the names its part
    may use.
    """

    part: type[KindPart]
    methods: frozenset[str] = frozenset()
    vocabulary: tuple[str, ...] = ()


Kinds = Mapping[str, KindKeys]


def build_manifest(document: Any, methods: Boards, kinds: Kinds) -> Manifest:
    """Validate a parsed YAML document. Raises ManifestRejected with every problem it has."""
    if not isinstance(document, dict):
        raise ManifestRejected("The manifest is not a mapping.", [Problem("expected a mapping at the top level")])
    named = document.get("evidence")
    kind = kinds.get(named) if isinstance(named, str) else None
    own = KindPart if kind is None else kind.part
    problems = list(_unknown_kind(document, kinds)) if kind is None else []
    document = _prepared(document, own, problems)
    boards, of_boards = _build_boards(document.get("leaderboards"), methods)

    hidden = _steps([*problems, *of_boards])
    of_kinds = {key for each in kinds.values() for key in each.part.model_fields}
    common_keys = {key: value for key, value in document.items() if key not in of_kinds or key in Common.model_fields}
    common = _validated(Common, {**common_keys, "leaderboards": boards}, problems, hidden, own.model_fields)
    part = _validated(own, {key: document[key] for key in own.model_fields if key in document}, problems)

    complaints = [] if common is None or kind is None else [*_about_names(common), *_about_methods(common, kind)]
    complaints += [] if common is None or kind is None else _about_parts(common, part, document, kinds)
    problems = [*_in_order(problems, own), *map(_complaint, complaints), *of_boards]
    if problems or common is None or part is None:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return Manifest(**dict(common), part=part)


def _complaint(text: str) -> Problem:
    """Return a broken rule over several keys as a problem with the key it names first."""
    column, colon, message = text.partition(": ")
    return Problem(message, column=column) if colon and " " not in column else Problem(text)


def _unknown_kind(document: Mapping[str, Any], kinds: Kinds) -> Iterator[Problem]:
    if "evidence" in document:
        named = document["evidence"]
        yield Problem(one_of(named, tuple(kinds)), column="evidence", value=shown(named))


def _prepared(document: Mapping[str, Any], part: type[KindPart], problems: list[Problem]) -> Mapping[str, Any]:
    try:
        return part.prepared(document)
    except ManifestRejected as error:
        problems += error.problems
        return document


def _validated(
    model: type[AnyOf],
    keys: Mapping[str, Any],
    into: list[Problem],
    hidden: Set[str] = frozenset(),
    other_keys: Iterable[str] = (),
) -> AnyOf | None:
    """Return the keys as an instance of the model; if invalid, None, with the problems added to `into`.

    Keys in `hidden` already have a better message; `other_keys` are the keys of other parts of the manifest.
    """
    try:
        return model.model_validate(keys)
    except ValidationError as error:
        problems = problems_from(error, model, keys=other_keys)
        into += [problem for problem in problems if not _steps([problem]) & hidden]
        return None


def _steps(problems: Iterable[Problem]) -> Set[str]:
    """Return the top-level keys that problems are about."""
    return {problem.column.partition(".")[0] for problem in problems if problem.column is not None}


def _in_order(problems: Sequence[Problem], own: type[KindPart]) -> list[Problem]:
    """Return the problems in the order of the keys; unknown keys and rules over several keys come last."""
    keys = list(with_part(dict.fromkeys(Common.model_fields, 0), dict.fromkeys(own.model_fields, 0)))

    def place(problem: Problem) -> int:
        key = (problem.column or "").partition(".")[0]
        return keys.index(key) if key in keys else len(keys)

    return sorted(problems, key=place)


def _build_boards(declared: Any, methods: Boards) -> tuple[Any, list[Problem]]:
    """Return the valid boards and the problems of the others; anything but a list is returned unchanged."""
    if not isinstance(declared, list):
        return declared, []
    problems: list[Problem] = []
    built = [_build_board(board, f"leaderboards.{at}", methods, problems) for at, board in enumerate(declared)]
    return [board for board in built if board is not None], problems


def _build_board(board: Any, path: str, methods: Boards, problems: list[Problem]) -> Leaderboard | None:
    method = board.get("method") if isinstance(board, dict) else None
    if not isinstance(method, str) or method not in methods:
        allowed = ", ".join(sorted(methods))
        near = nearest(method, methods)
        hint = f"; did you mean {near}?" if near else ""
        problems.append(Problem(f"method must be one of {allowed}{hint}", column=f"{path}.method", value=shown(method)))
        return None
    try:
        return methods[method].model_validate(board)
    except ValidationError as error:
        problems += problems_from(error, methods[method], within=path)
        return None


def _about_names(common: Common) -> Iterator[str]:
    for name in repeated([board.name for board in common.leaderboards]):
        yield f"leaderboards: the name {name} is used twice"
    for task in repeated([name_key(task) for task in common.task_ids() or ()]):
        yield f"tasks: the id {task} is used twice (case makes no other name); a task is of one family at most"
    yield from _about_families(common)
    known = None if isinstance(common.tasks, OpenTasks) else frozenset(common.task_ids() or ())
    for board in common.leaderboards:
        yield from _undeclared(board, common, known)
    yield from complaints_about(common.entrant_fields)
    if common.group_by is not None:
        yield from _about_groups(common, common.group_by)
    if common.grid is not None:
        yield from _about_grid(common, common.grid)


def _about_groups(common: Common, column: str) -> Iterator[str]:
    groups = common.declared_groups()
    if common.task_ids() is None:
        yield "group_by: needs a list of tasks; an open one declares nothing of them"
    elif not groups:
        known = sorted({key for task in common.tasks for key in task.described})  # type: ignore[union-attr]
        near = nearest(column, known)
        hint = f"did you mean {near}? " if near else ""
        yield f"group_by: no task's where or about has {column}; {hint}there are {', '.join(known) or 'none'}"
    elif len(groups) > MOST_VALUES:
        yield f"group_by: {column} has {len(groups)} values; expected {MOST_VALUES} at most"
    for name in groups:
        if len(name) > MOST_LETTERS:
            yield f"group_by: expected values of {MOST_LETTERS} characters at most, not {clip_for_message(name)}"


MOST_LETTERS = 60
"""A longer name is not the head of a column."""


def _about_families(common: Common) -> Iterator[str]:
    families, tasks = common.families(), common.task_ids() or ()
    if not families:
        return
    if not any(board.draws_tasks for board in common.leaderboards):
        yield "tasks: a family is declared, and no board draws tasks: each holds them fixed; leave families out"
    for family in sorted(set(families.values()) & set(tasks)):
        if families.get(family) != family:
            yield (
                f"tasks: the family {family} has the name of a task outside of it; expected another name, or that task "
                "in the family"
            )
    units = {task: families.get(task, task) for task in tasks}
    among = {"tasks": tasks, **{f"leaderboards.{board.name}.tasks": board.ranked_tasks() or ()
                                for board in common.leaderboards if board.draws_tasks}}  # fmt: skip
    for key, listed in among.items():
        known = {units[task] for task in listed if task in units}
        if len(known) == 1 and len(listed) > 1:
            yield (
                f"{key}: all {len(listed)} are of the family {known.pop()}, so that there is nothing to draw; expected "
                "tasks of two families at least"
            )


def _undeclared(board: Leaderboard, common: Common, known_tasks: Set[str] | None) -> Iterator[str]:
    for metric in board.metric_names():
        if metric not in common.metrics:
            yield f"leaderboards.{board.name}: {metric} is not among the declared metrics"
    if board.needs_known_tasks and known_tasks is None and board.ranked_tasks() is None:
        yield f"leaderboards.{board.name}.tasks: the method {board.method} needs a list of tasks, here or in tasks"
    for task in board.ranked_tasks() or ():
        if known_tasks is not None and task not in known_tasks:
            yield f"leaderboards.{board.name}.tasks: {task} is not among the declared tasks"


def _about_grid(common: Common, grid: Grid) -> Iterator[str]:
    yield from grid.complaints(common.task_ids(), _unbounded(common))
    if grid.registration_may_choose and common.admission.prereg != "required":
        yield "grid.registration_may_choose: needs admission.prereg: required, so that every run names what it chose"


def _unbounded(common: Common) -> dict[str, str]:
    """Return the ranking metrics whose range has no worst end, with the name of that end."""
    ranking = {m: board.worst_of(metric) for board in common.leaderboards for m in board.required_metrics()
               if (metric := common.metrics.get(m)) is not None}  # fmt: skip
    ends = {"maximize": "min", "minimize": "max"}
    return {m: ends[common.metrics[m].direction] for m, worst in ranking.items() if worst is None}


def _about_methods(common: Common, kind: KindKeys) -> Iterator[str]:
    for board in common.leaderboards:
        if common.evidence not in board.evidence_kinds and board.method not in kind.methods:
            yield (
                f"leaderboards.{board.name}: the method {board.method} does not read evidence of kind {common.evidence}"
            )


def _about_parts(common: Common, part: KindPart | None, document: Mapping[str, Any], kinds: Kinds) -> Iterator[str]:
    """Yield broken rules of the manifest's own kind, and keys that belong to another kind."""
    own = kinds[common.evidence].part.model_fields
    for name, kind in kinds.items():
        if name == common.evidence:
            yield from () if part is None else part.complaints(common)
            continue
        for key in kind.part.model_fields:
            if key not in own and document.get(key) is not None:
                yield f"{key}: belongs to evidence of kind {name}"


def manifest_digest(yaml_bytes: bytes) -> str:
    """Return the SHA-256 of the manifest's bytes, in hexadecimal."""
    return hashlib.sha256(yaml_bytes).hexdigest()


# Problems of a manifest in plain words: what it contains, what is expected, and which key was probably meant.

# A path has several keys, and the message after it must stay visible.
MAX_KEY = 200

SHOWN_KEYS = 30

EXPECTED: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "list_type": "a list",
    "none_required": "null",
}

PATTERNS = {f"^{SLUG_PATTERN}$": SLUG_RULE, f"^{METRIC_PATTERN}$": METRIC_RULE}

Step = str | int


@dataclass(frozen=True)
class _Finding:
    """One of pydantic's findings: its path of keys, where in it several types were tried, and what is allowed."""

    path: tuple[Step, ...]
    unions: tuple[int, ...]
    allowed: tuple[str, ...]
    error: Any

    @property
    def is_choice(self) -> bool:
        """Say whether it only reports that another of several types was expected."""
        return bool(self.unions) and self.unions[-1] == len(self.path) and self.expected is not None

    @property
    def expected(self) -> str | None:
        """Return what was expected, if that is the only problem."""
        if self.error["type"] == "literal_error":
            return str(self.error["ctx"]["expected"])
        return EXPECTED.get(self.error["type"])


def problems_from(
    error: ValidationError, model: type[BaseModel] | None = None, *, within: str = "", keys: Iterable[str] = ()
) -> list[Problem]:
    """Turn pydantic's findings into problems whose column is the dotted path of the key.

    `model` is what was validated, below the key `within`; `keys` are further allowed keys of the top level.
    """
    findings = [_finding_of(each, model, tuple(keys)) for each in error.errors()]
    return [_problem(each, within) for each in _without_other_choices(findings)]


def one_of(word: object, allowed: Sequence[str]) -> str:
    """Return the message for a word that is not in a closed list."""
    near = nearest(word, allowed)
    listed = ", ".join(f"'{name}'" for name in allowed[:-1])
    expected = f"{listed} or '{allowed[-1]}'" if listed else f"'{allowed[-1]}'"
    return f"expected {expected}" + (f"; did you mean '{near}'?" if near else "")


def shown(value: Any) -> str | None:
    """Return a value as a message shows it; None for a mapping or list."""
    return None if value is None or isinstance(value, (dict, list, BaseModel)) else clip_for_message(str(value))


def _finding_of(error: Any, model: type[BaseModel] | None, keys: tuple[str, ...]) -> _Finding:
    path: list[Step] = []
    unions: list[int] = []
    places: list[Any] = [] if model is None else [model]
    steps = error["loc"]
    for at, step in enumerate(steps):
        inner = _children(places, step)
        is_last_key = at == len(steps) - 1 and error["type"] == "extra_forbidden"
        if inner is None and places and not is_last_key:
            unions.append(len(path))
            continue
        path.append(step)
        places = places if is_last_key else inner or []
    allowed = (*_keys_of(places), *(keys if len(path) == 1 else ()))
    return _Finding(tuple(path), tuple(unions), allowed, error)


def _children(places: Sequence[Any], step: Step) -> list[Any] | None:
    """Return what is allowed below a step; None where no type has such a key, so that the step names a tried type."""
    for place in places:
        if isinstance(place, type) and issubclass(place, BaseModel):
            for name, field in place.model_fields.items():
                if step in (name, field.alias):
                    return _types(field.annotation)
        elif get_origin(place) is dict and isinstance(step, str) and not _is_tag(step, places):
            return _types(get_args(place)[1])
        elif get_origin(place) is list and isinstance(step, int):
            return _types(get_args(place)[0])
    return None


def _is_tag(step: str, places: Sequence[Any]) -> bool:
    """Say whether pydantic names one of several types by this word, and not a key of a mapping."""
    return len(places) > 1 and (
        step.startswith(("dict[", "list[")) or step in {getattr(p, "__name__", "") for p in places}
    )


def _types(annotation: Any) -> list[Any]:
    """Return the types that a value may have, unwrapped from unions and annotations."""
    if get_origin(annotation) is Annotated:
        return _types(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [each for part in get_args(annotation) for each in _types(part)]
    return [] if annotation is NoneType else [annotation]


def _keys_of(places: Sequence[Any]) -> Iterator[str]:
    for place in places:
        if isinstance(place, type) and issubclass(place, BaseModel):
            yield from (field.alias or name for name, field in place.model_fields.items())


def _without_other_choices(findings: Sequence[_Finding]) -> Iterator[_Finding]:
    """Yield the findings for the type that was meant or, if none is evident, one finding that names all types."""
    at_or_below: dict[tuple[Step, ...], list[_Finding]] = {}
    for each in findings:
        for length in range(len(each.path) + 1) if each.unions else ():
            at_or_below.setdefault(each.path[:length], []).append(each)
    for each in findings:
        if not each.is_choice:
            yield each
            continue
        rivals = at_or_below[each.path]
        if each is not rivals[0] or not all(f.is_choice for f in rivals):
            continue
        expected = list(dict.fromkeys(f.expected or "" for f in rivals))
        yield _Finding(each.path, each.unions, each.allowed, {**each.error, "type": "choice", "expected": expected})


def _problem(finding: _Finding, within: str) -> Problem:
    error = finding.error
    column = ".".join([*filter(None, [within]), *(clip_for_message(str(step), MAX_KEY) for step in finding.path)])
    value = None if error["type"] == "missing" else shown(error.get("input"))
    return Problem(_message(finding), column=column or None, value=value)


def _message(finding: _Finding) -> str:
    error, kind = finding.error, finding.error["type"]
    if kind == "missing":
        return "this key is missing"
    if kind == "extra_forbidden":
        return _unknown_key(str(finding.path[-1]), finding.allowed)
    if kind == "choice":
        return f"expected {' or '.join(error['expected'])}"
    if kind == "literal_error":
        return _of_list(error)
    if kind in EXPECTED:
        is_number = kind == "string_type" and isinstance(error.get("input"), bool | int | float)
        return f"expected {EXPECTED[kind]}" + ("; put it in quotes" if is_number else "")
    if kind in BOUNDS:
        return BOUNDS[kind](error.get("ctx", {}))
    message: str = error["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "expected")


@lru_cache(1000)  # A key that is wrong in one task is so in thousands.
def _unknown_key(key: str, allowed: tuple[str, ...]) -> str:
    near = nearest(key, allowed)
    hint = f"did you mean {near}? " if near else ""
    listed = first_few(allowed, SHOWN_KEYS)
    return f"no key of this name; {hint}Known are {listed}" if listed else "no key of this name"


def _of_list(error: Any) -> str:
    expected: str = error["ctx"]["expected"]
    near = nearest(error.get("input"), [part.strip("'") for part in expected.replace(" or ", ", ").split(", ")])
    return f"expected {expected}" + (f"; did you mean '{near}'?" if near else "")


def _pattern(ctx: Mapping[str, Any]) -> str:
    return f"expected {PATTERNS.get(ctx['pattern'], 'text of the form ' + ctx['pattern'])}"


def _fewest(ctx: Mapping[str, Any]) -> str:
    return "must not be empty" if ctx["min_length"] == 1 else f"needs at least {ctx['min_length']}"


BOUNDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "string_pattern_mismatch": _pattern,
    "string_too_short": _fewest,
    "too_short": _fewest,
    "string_too_long": lambda ctx: f"has too many characters; at most {ctx['max_length']:,} are allowed",
    "too_long": lambda ctx: f"has too many entries; at most {ctx['max_length']:,} are allowed",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']:g}",
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']:g}",
    "less_than": lambda ctx: f"must be less than {ctx['lt']:g}",
    "less_than_equal": lambda ctx: f"must be at most {ctx['le']:g}",
}


# Finds the lines of a manifest's text that problems are about.

Path = tuple[str | int, ...]

MAX_STEPS = 40


def with_lines(problems: Sequence[Problem], document: ParsedYaml) -> list[Problem]:
    """Return problems with their line numbers; for a missing key, that of the mapping around it."""
    places = _Places(document.value)
    return [
        problem if problem.row is not None else replace(problem, row=document.line(places.of(problem.column)))
        for problem in problems
    ]


@dataclass(frozen=True)
class _Places:
    """The paths of a document's dotted names; `by_name` are boards and tasks of its lists, by `id()`."""

    document: Any
    by_name: dict[int, dict[str, int]] = field(default_factory=dict)

    def of(self, column: str | None) -> Path:
        """Return the path of a dotted name, as far as it exists.

        Keys may contain dots themselves, so the longest existing key is taken. A board or a task is also found by name.
        """
        path: Path = ()
        value = self.document
        steps = [] if column is None else column.split(".")[:MAX_STEPS]
        while steps:
            for length in range(len(steps), 0, -1):
                step = self._step(value, ".".join(steps[:length]))
                if step is not None:
                    break
            else:
                return path
            path, value, steps = (*path, step), value[step], steps[length:]
        return path

    def _step(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return name if name in value else None
        if not isinstance(value, list):
            return None
        if name.isdigit() and len(name) < 10 and int(name) < len(value):
            return int(name)
        if id(value) not in self.by_name:
            self.by_name[id(value)] = _positions(value)
        return self.by_name[id(value)].get(name)


def _positions(listed: Sequence[Any]) -> dict[str, int]:
    """Return the first position of each name and id among the mappings of a list."""
    named = ((each.get(key), at) for at, each in enumerate(listed) if isinstance(each, dict) for key in ("name", "id"))
    return dict(reversed([(name, at) for name, at in named if isinstance(name, str)]))


def unanswered(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every TODO, which marks a missing answer."""
    if value == TODO:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from unanswered(child, (*path, step))


# The order in which the keys of a manifest are published.

Value = TypeVar("Value")


def with_part(common: Mapping[str, Value], part: Mapping[str, Value]) -> dict[str, Value]:
    """Return the keys of both in the order in which a manifest is published: the kind's precede the claims."""
    ordered: dict[str, Value] = {}
    for key, value in common.items():
        if key == "claims":
            ordered |= part
        ordered[key] = value
    return ordered


# A manifest as a file, for drafts, imports and their check.

TODO = "TODO"
"""Marks a missing answer in a draft; a manifest that contains it is refused."""

SCHEMA = "http://127.0.0.1:8000/schemas/manifest.json"
"""Where a server that runs beside an editor serves the schema of manifests."""

SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA}\n"


def yaml_of(document: Mapping[str, Any]) -> bytes:
    """Return the file of a manifest that was made from something else, its keys in the order given."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return f"{SCHEMA_LINE}{text}".encode()


class _Dumper(yaml.SafeDumper):
    """Writes equal lists out each time: our reader takes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


# Earlier versions of a benchmark, against which files written for them are checked: without later additions. Rules,
# directions and ranges are today's; only metrics and tasks added later are not asked for. Pure.


def as_asked_by(today: Manifest, then: Manifest) -> Manifest | None:
    """Return today's manifest without the metrics and tasks that an earlier one lacks; None where nothing is left.

    A metric that was read from a different column counts as a different metric.
    """
    metrics = {name: metric for name, metric in today.metrics.items()
               if name in then.metrics and then.metrics[name].source == metric.source}  # fmt: skip
    old_tasks = None if isinstance(then.tasks, OpenTasks) else {task.id for task in then.tasks}
    tasks = today.tasks
    if isinstance(tasks, list) and old_tasks is not None:
        tasks = [task for task in tasks if task.id in old_tasks]
    boards = [board for board in today.leaderboards if _is_about(board, metrics, old_tasks)]
    boards = boards or [board for board in then.leaderboards if _is_about(board, metrics, old_tasks)]
    if not metrics or not tasks or not boards:
        return None
    claims = {name: claim for name, claim in today.claims.items() if claim.metric in metrics}
    kept = {"metrics": metrics, "tasks": tasks, "leaderboards": boards, "claims": claims}
    return today.model_copy(update=kept)


def _is_about(board: Leaderboard, metrics: Mapping[str, Metric], tasks: Set[str] | None) -> bool:
    """Say whether a board uses only metrics and tasks that existed."""
    ranked = board.ranked_tasks()
    return set(board.metric_names()) <= metrics.keys() and (tasks is None or ranked is None or set(ranked) <= tasks)


def is_without(problems: Sequence[Problem], n_problems: int, now: Manifest, then: Manifest) -> bool:
    """Say whether the only problem with files is missing columns of metrics that the earlier version lacks."""
    added = set(now.metrics) - set(then.metrics)
    return len(problems) == n_problems and all(each.is_missing and each.column in added for each in problems)


def written_for(versions: Sequence[Manifest], at: int, tasks: Iterable[str]) -> int:
    """Return the index of the version that rows were written for, starting at the one they were read under.

    `versions` are from `as_asked_by`, newest first. Rows without any task that a version added, where it added no
    metric either, were written for the version before.
    """
    delivered, place_of_rows = set(tasks), at
    for place in range(at, len(versions) - 1):
        now, before = versions[place], versions[place + 1]
        added = set(now.task_ids() or ()) - set(before.task_ids() or ())
        if set(now.metrics) - set(before.metrics) or added & delivered:
            break
        place_of_rows = place + 1 if added else place_of_rows
    return place_of_rows
