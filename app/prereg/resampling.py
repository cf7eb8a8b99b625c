"""Two rules that hold in the whole text of a preregistration, whatever its form and however deep: no pooled (iid)
bootstrap for a leaderboard run, and one run purpose.

Called by `app.prereg.prereg`. The documents' inner keys are free, so a method may be under any key; it is found by its
own name instead.
"""

import re
from collections.abc import Iterator
from typing import Any

from app.prereg.fields import Fields
from app.prereg.shared import IID_REFUSED
from app.prereg.values import RunPurpose
from app.yaml.builder import Path, dotted

PURPOSE = "run_purpose"
PILOT = "pilot"
"""A section with this word in its key is about another run, with its own purpose: never the registered one."""
_IID = re.compile(r"\b(?:i\.?i\.?d\b\.?|independent(?:ly)?,? and identical(?:ly)?)")
_DENIED_BEFORE = re.compile(r"\b(?:no|not|non|never|without|neither|nor|refus\w*|forbid\w*|instead of|rather than|than)"
                            r"(?: \w+){0,2} *$")  # fmt: skip
_DENIED_AFTER = re.compile(r"^(?: \w+){0,4} (?:not|never|refused|forbidden|excluded|ruled out)\b")
_OF_THE_SIMULATION = re.compile(r"noise|gaussian|jitter|perturb")
_SEPARATORS = re.compile(r"[\s_/+-]+")


def refuse_iid_anywhere(fields: Fields, run_purpose: RunPurpose) -> None:
    """Refuse every text in a leaderboard run's document that declares iid resampling and is not refused already."""
    refused = {problem.column for problem in fields.problems}
    for path, value in _own(fields.mapping) if run_purpose == "leaderboard" else ():
        if path != ("bootstrap_method",) and dotted(path) not in refused and _declares_iid(path, value):
            fields.refuse(IID_REFUSED, *path, value=value)


def refuse_other_purposes(fields: Fields, run_purpose: RunPurpose) -> None:
    """Refuse an inner run purpose that contradicts the document's; only a pilot has its own."""
    refused = {problem.column for problem in fields.problems}
    for path, value in _own(fields.mapping):
        is_other = len(path) > 1 and path[-1] == PURPOSE and value != run_purpose
        if is_other and dotted(path) not in refused:
            fields.refuse(
                f"the run purpose of the registration is {run_purpose}, and is said once; another run's own stands in "
                f"a section whose key says {PILOT}",
                *path,
                value=value,
            )


def _own(document: Any) -> Iterator[tuple[Path, Any]]:
    """Yield every leaf value with its path, except a pilot's; not recursive, because documents may be deep."""
    waiting: list[tuple[Path, Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, k), v) for k, v in reversed(value.items()) if not _is_pilot(k, v)]
        elif isinstance(value, list):
            waiting += [((*path, at), value[at]) for at in reversed(range(len(value)))]
        else:
            yield path, value


def _is_pilot(key: Any, value: Any) -> bool:
    return isinstance(key, str) and PILOT in key.lower() and isinstance(value, dict) and PURPOSE in value


def _declares_iid(path: Path, value: Any) -> bool:
    keys = [_words(step) for step in path if isinstance(step, str)]
    if any(_OF_THE_SIMULATION.search(key) for key in keys[-2:]):
        return False
    if isinstance(value, str):
        return _says_iid(_words(value))
    return value is not None and value is not False and bool(keys) and _says_iid(keys[-1])


def _words(text: str) -> str:
    return _SEPARATORS.sub(" ", text.casefold()).strip()


def _says_iid(words: str) -> bool:
    return any(
        not (
            _DENIED_BEFORE.search(words[: match.start()].rstrip(" ") + " ")
            or _DENIED_AFTER.search(words[match.end() :])
            or _OF_THE_SIMULATION.search(words)
        )
        for match in _IID.finditer(words)
    )
