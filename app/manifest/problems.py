"""Problems of a manifest in plain words: what it contains, what is expected, and which key was probably meant.

Called by `app.manifest.build` and wherever else pydantic validates, because its messages are about Python types.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from app.errors import Problem
from app.names import METRIC_PATTERN, METRIC_RULE, SLUG_PATTERN, SLUG_RULE, clip_for_message

# A path has several keys, and the message after it must stay visible.
MAX_KEY = 200
SHOWN_KEYS = 30
LIKENESS = 0.6

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
    known: tuple[str, ...]
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
    error: ValidationError, model: type[BaseModel] | None = None, *, prefix: str = "", keys: Iterable[str] = ()
) -> list[Problem]:
    """Turn pydantic's findings into problems whose column is the dotted path of the key.

    `model` is what was validated, `keys` are further allowed keys of the top level.
    """
    findings = [_finding_of(each, model, tuple(keys)) for each in error.errors()]
    return [_problem(each, prefix) for each in _without_other_choices(findings)]


def nearest(word: object, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant; None if none is close.

    >>> nearest("leaderbords", ["leaderboards", "metrics"])
    'leaderboards'
    """
    if not isinstance(word, str) or len(word) > MAX_KEY:
        return None
    by_key = {each.lower(): each for each in known}
    matches = get_close_matches(word.lower(), by_key, n=1, cutoff=LIKENESS)
    return by_key[matches[0]] if matches else None


def one_of(word: object, known: Sequence[str]) -> str:
    """Return the message for a word that is not in a closed list."""
    near = nearest(word, known)
    listed = ", ".join(f"'{name}'" for name in known[:-1])
    expected = f"{listed} or '{known[-1]}'" if listed else f"'{known[-1]}'"
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
    known = (*_keys_of(places), *(keys if len(path) == 1 else ()))
    return _Finding(tuple(path), tuple(unions), known, error)


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
    for each in findings:
        if not each.is_choice:
            yield each
            continue
        rivals = [f for f in findings if f.path[: len(each.path)] == each.path and f.unions]
        others = [f for f in rivals if not f.is_choice]
        first = next(f for f in rivals if f.is_choice)
        if others or each is not first:
            continue
        expected = list(dict.fromkeys(f.expected or "" for f in rivals))
        yield _Finding(each.path, each.unions, each.known, {**each.error, "type": "choice", "expected": expected})


def _problem(finding: _Finding, prefix: str) -> Problem:
    error = finding.error
    column = prefix + ".".join(clip_for_message(str(step), MAX_KEY) for step in finding.path)
    value = None if error["type"] == "missing" else shown(error.get("input"))
    return Problem(_message(finding), column=column or None, value=value)


def _message(finding: _Finding) -> str:
    error, kind = finding.error, finding.error["type"]
    if kind == "missing":
        return "this key is missing"
    if kind == "extra_forbidden":
        return _unknown_key(str(finding.path[-1]), finding.known)
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


def _unknown_key(key: str, known: Sequence[str]) -> str:
    near = nearest(key, known)
    hint = f"did you mean {near}? " if near else ""
    listed = ", ".join(known[:SHOWN_KEYS])
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
