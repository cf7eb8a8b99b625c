"""The seeds and the bootstrap that a registered document declares, wherever it does. For `app.prereg.document`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.prereg.fields import Fields
from app.prereg.shared import BOOTSTRAP_METHODS, refuse_iid
from app.prereg.values import BootstrapMethod, Prereg, RunPurpose
from app.yaml.builder import Path, dotted

# Seeds of the registered run itself: not of its training, its pilot or its extension.
SEEDS_AT: tuple[Path, ...] = (
    ("seeds",),
    ("parameters", "seeds"),
    ("parameters", "evaluation", "eval_seeds"),
    ("parameters", "evaluation", "seeds"),
    ("parameters", "admission", "seeds"),
    ("decision_rule", "seeds"),
)
# Keys whose prose may name the bootstrap method, as the estimators of CHAMBER's campaigns do.
PROSE_KEYS = ("estimator", "estimators", "bootstrap")
_IID_IN_PROSE = re.compile(r"(?<!no )(?<!not )(?<!never )\b(?:iid|i\.i\.d\.)[ -]+bootstrap", re.IGNORECASE)


@dataclass(frozen=True)
class InnerPart:
    """One inner mapping and its run purpose: its own, or that of the enclosing mapping."""

    fields: Fields
    run_purpose: RunPurpose


def declared_seeds(fields: Fields, shared: Prereg, parts: Sequence[InnerPart]) -> tuple[int, ...] | None:
    """Check every list of seeds and return that of the registered run."""
    by_path: dict[Path, tuple[int, ...]] = {} if shared.seeds is None else {("seeds",): shared.seeds}
    for part in parts:
        for key in part.fields.mapping:
            path = (*part.fields.path, key)
            if path in SEEDS_AT or (_names_seeds(key) and isinstance(part.fields.mapping[key], list)):
                by_path[path] = part.fields.seeds(key) or ()
    declared = [path for path in SEEDS_AT if by_path.get(path)]
    for path in declared[1:]:
        if set(by_path[path]) != set(by_path[declared[0]]):
            fields.refuse(f"the seeds differ from those at {dotted(declared[0])}", *path)
    return by_path[declared[0]] if declared else None


def _names_seeds(key: str) -> bool:
    return key == "seeds" or key.endswith("_seeds")


def declared_bootstrap(fields: Fields, shared: Prereg, parts: Sequence[InnerPart]) -> BootstrapMethod:
    """Check every declared bootstrap method and return that of the registered run."""
    methods = []
    for part in parts:
        for key in part.fields.mapping:
            method = _declared_method(part.fields, key)
            if method is not None:
                refuse_iid(part.fields, key, part.run_purpose, method)
                methods += [method] if part.run_purpose == shared.run_purpose else []
    explicit = "bootstrap_method" in fields.mapping
    return shared.bootstrap_method if explicit or not methods else methods[0]


def _declared_method(part: Fields, key: str) -> BootstrapMethod | None:
    """Return the bootstrap method that `key` declares; None when it declares something else."""
    value = part.mapping[key]
    if key in PROSE_KEYS:
        return _method_in_prose(value)
    if key != "bootstrap_method" and not (key == "method" and "bootstrap" in part.path[-2:]):
        return None
    method = _method_named(value)
    if method is None:
        part.refuse(f"a bootstrap method must be one of {', '.join(BOOTSTRAP_METHODS)}", key, value=value)
    return method


def _method_in_prose(value: Any) -> BootstrapMethod | None:
    says_iid = isinstance(value, str) and _IID_IN_PROSE.search(value) is not None
    return "iid" if says_iid else _method_named(value)


def _method_named(value: Any) -> BootstrapMethod | None:
    word = value.lower().removeprefix("paired_").removesuffix("_bootstrap") if isinstance(value, str) else None
    return next((method for method in BOOTSTRAP_METHODS if word == method), None)
