"""Builds a manifest from a parsed document: allowed keys, their types, and the rules over several keys.

Called by `app.kinds.parse`, which passes the ranking methods and the kinds of evidence.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from app.errors import ManifestRejected, Problem
from app.manifest.base import Part
from app.manifest.declared_metadata import complaints_about
from app.manifest.grid import Grid
from app.manifest.key_order import with_part
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Common, KindPart, Manifest
from app.manifest.problems import nearest, one_of, problems_from, shown
from app.names import name_key

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
    beside: Iterable[str] = (),
) -> AnyOf | None:
    """Return the keys as an instance of the model; if invalid, None, with the problems added to `into`.

    Keys in `hidden` already have a better message; `beside` are the keys of other parts of the manifest.
    """
    try:
        return model.model_validate(keys)
    except ValidationError as error:
        problems = problems_from(error, model, keys=beside)
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
        known = ", ".join(sorted(methods))
        near = nearest(method, methods)
        hint = f"; did you mean {near}?" if near else ""
        problems.append(Problem(f"method must be one of {known}{hint}", column=f"{path}.method", value=shown(method)))
        return None
    try:
        return methods[method].model_validate(board)
    except ValidationError as error:
        problems += problems_from(error, methods[method], prefix=f"{path}.")
        return None


def _about_names(common: Common) -> Iterator[str]:
    for name in _repeats([board.name for board in common.leaderboards]):
        yield f"leaderboards: the name {name} is used twice"
    for task in _repeats([name_key(task) for task in common.task_ids() or ()]):
        yield f"tasks: the id {task} is used twice (case makes no other name)"
    for board in common.leaderboards:
        yield from _undeclared(board, common)
    yield from complaints_about(common.metadata)
    if common.grid is not None:
        yield from _about_grid(common, common.grid)


def _undeclared(board: Leaderboard, common: Common) -> Iterator[str]:
    for metric in board.metric_names():
        if metric not in common.metrics:
            yield f"leaderboards.{board.name}: {metric} is not among the declared metrics"
    known_tasks = common.task_ids()
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


def _repeats(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def manifest_digest(yaml_bytes: bytes) -> str:
    """Return the SHA-256 of the manifest's bytes, in hexadecimal."""
    return hashlib.sha256(yaml_bytes).hexdigest()
