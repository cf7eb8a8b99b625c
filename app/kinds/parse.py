"""Reading a manifest with what every method and kind of evidence knows of it, and its JSON Schema.

What a key means stands at the key, as the description of its field.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from app.boards.methods.estimate import EstimateBoard
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import methods
from app.errors import ManifestRejected, Problem
from app.kinds.registry import KINDS
from app.manifest.build import SHOWN_KEYS, KindKeys, build_manifest, unanswered, with_lines, with_part
from app.manifest.model import Common, Leaderboard, Manifest, Part
from app.names import TEXT_RULE, clip_for_message, first_few, has_plain_lines, repeated
from app.yaml import ParsedYaml, Path, dotted, read_document

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# A name, not an address that anybody must reach: every server serves it at /schemas/manifest.json.
SCHEMA_ID = "urn:plumbline:manifest:1"

MAX_MANIFEST_BYTES = 1024 * 1024


def parse_manifest(yaml_bytes: bytes) -> Manifest:
    """Read a manifest. Raises Rejected with every problem of its YAML, or ManifestRejected of its meaning."""
    boards = tuple((name, method.spec) for name, method in methods().items())
    return _parse(yaml_bytes, boards, tuple(known_keys().items()))


def parse_new_manifest(yaml_bytes: bytes) -> Manifest:
    """Read a manifest that is to become a version: claims that decide nothing are refused, too, composites of none, two
    rules for what is missing, differences that matter and nobody can have, texts that are not shown as they are, and
    tasks that a board counts twice.

    Stored versions are older than some of these rules and are read without them. Raises as `parse_manifest` does.
    """
    manifest = parse_manifest(yaml_bytes)
    if problems := [
        *_of_texts(manifest),
        *_of_tasks(manifest, yaml_bytes),
        *_of_claims(manifest),
        *_of_composites(manifest),
        *_of_skill_scores(manifest),
        *_of_least(manifest),
    ]:
        document = read_document(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
        error = ManifestRejected("The manifest breaks the rules below.", problems)
        raise ManifestRejected(error.detail, with_lines(error.problems, document), n_problems=error.n_problems)
    return manifest


def _of_texts(manifest: Manifest) -> Iterator[Problem]:
    # As they are, not as their declared types: boards and parts have keys of their own.
    keys = manifest.model_dump(by_alias=True, serialize_as_any=True, exclude={"part"})
    keys |= manifest.part.model_dump(by_alias=True, serialize_as_any=True)
    for path, text in _texts(keys):
        if not has_plain_lines(text):
            yield Problem(f"expected {TEXT_RULE}", column=dotted(path), value=clip_for_message(text))


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every text of a document, keys as well, with its path."""
    if isinstance(value, str):
        yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        if isinstance(step, str):
            yield path, step
        yield from _texts(child, (*path, step))


def _of_tasks(manifest: Manifest, yaml_bytes: bytes) -> Iterator[Problem]:
    if not any(board.tasks for board in manifest.leaderboards):
        return
    # As they were written: read, each is there once.
    document = read_document(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
    for at, board in enumerate(document.value["leaderboards"]):
        for task in repeated(board.get("tasks") or ()):
            message = "it is listed twice; expected each task once, since a task counts once"
            yield Problem(message, column=f"leaderboards.{at}.tasks", value=clip_for_message(task))


def _of_claims(manifest: Manifest) -> Iterator[Problem]:
    conditions = KINDS[manifest.evidence].rules.conditions(manifest) or ()
    known_conditions = frozenset(conditions)
    for name, claim in manifest.claims.items():
        key, contrast = f"claims.{name}", claim.contrast
        metric = manifest.metrics.get(claim.metric)
        if metric is None:
            known = first_few(tuple(manifest.metrics), SHOWN_KEYS)
            yield Problem(f"expected one of the metrics {known}", column=f"{key}.metric", value=claim.metric)
        if len(set(contrast)) < len(contrast):
            message = "it compares one with itself; expected two names, or one alone"
            yield Problem(message, column=f"{key}.contrast", value=", ".join(contrast))
        # Names that are no conditions may be entrants, but one of each is nothing.
        elif 0 < sum(each in known_conditions for each in contrast) < len(contrast):
            message = f"expected two of the conditions {first_few(tuple(conditions), SHOWN_KEYS)}, or two entrants"
            yield Problem(message, column=f"{key}.contrast", value=", ".join(contrast))
        if metric is not None and metric.min is not None and metric.max is not None:
            width = metric.max - metric.min
            low, high = (metric.min, metric.max) if len(contrast) == 1 else (-width, width)
            if not low <= claim.threshold <= high:
                message = f"it decides nothing; expected a number from {low:g} to {high:g}"
                yield Problem(message, column=f"{key}.threshold", value=f"{claim.threshold:g}")


def _of_composites(manifest: Manifest) -> Iterator[Problem]:
    conditions = KINDS[manifest.evidence].rules.conditions(manifest)
    if conditions is None:
        return
    known = frozenset(conditions)
    for board in manifest.leaderboards:
        if isinstance(board, EstimateBoard) and board.composite is not None:
            sides = {"conditions": board.composite.conditions, "against": board.composite.against}
            for key, task, name in ((key, task, name) for key, of in sides.items() for task, name in of.items()):
                if name not in known:
                    column = f"leaderboards.{board.name}.composite.{key}.{task}"
                    listed = first_few(tuple(conditions), SHOWN_KEYS)
                    yield Problem(f"expected one of the conditions {listed}", column=column, value=name)


def _of_skill_scores(manifest: Manifest) -> Iterator[Problem]:
    """Yield what is wrong with a board of skill scores, but was allowed to the versions of before.

    Its scores would follow one rule for absent results and its ranks another.
    """
    for board in manifest.leaderboards:
        if not isinstance(board, SkillScore):
            continue
        key = f"leaderboards.{board.name}"
        if manifest.absent == "worst" and board.missing != "error":
            message = (
                "grid.absent: worst says already what counts where a result is absent; expected error, or no worst"
            )
            yield Problem(message, column=f"{key}.missing", value=board.missing)


def _of_least(manifest: Manifest) -> Iterator[Problem]:
    """Yield the smallest differences that matter by which no two could differ: all pairs would be equivalent."""
    for board in manifest.leaderboards:
        if isinstance(board, SkillScore):
            width, of = 1.0, "the skill of the better one relative to the other, or by rank_by: win_rate of win rates"
        elif board.is_mean or isinstance(board, EstimateBoard):
            ranked = board.ranked if isinstance(board, EstimateBoard) else board.metric_names()[0]
            metric = manifest.metrics.get(ranked)
            if metric is None or metric.min is None or metric.max is None:
                continue
            width, of = metric.max - metric.min, f"a difference of {ranked}, from {metric.min:g} to {metric.max:g}"
        else:
            continue
        if board.smallest_difference is not None and board.smallest_difference >= width:
            column = f"leaderboards.{board.name}.smallest_difference"
            value = f"{board.smallest_difference:g}"
            yield Problem(f"expected less than {width:g}: it is {of}", column=column, value=value)


def known_keys() -> dict[str, KindKeys]:
    """Return what each known kind of evidence has of a manifest."""
    return {name: KindKeys(kind.part, kind.methods, kind.part.vocabulary()) for name, kind in KINDS.items()}


# What is known is part of the key: a manifest read while one method or kind more was known is not found afterwards.
@cache
def _parse(
    yaml_bytes: bytes, boards: tuple[tuple[str, type[Leaderboard]], ...], kinds: tuple[tuple[str, KindKeys], ...]
) -> Manifest:
    document = read_document(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
    try:
        return _build(document, dict(boards), dict(kinds))
    except ManifestRejected as error:
        problems = with_lines(error.problems, document)
        raise ManifestRejected(error.detail, problems, n_problems=error.n_problems) from None


def _build(document: ParsedYaml, boards: Mapping[str, type[Leaderboard]], kinds: Mapping[str, KindKeys]) -> Manifest:
    missing = [
        Problem(
            "an answer is missing here; the comment beside it says which", row=document.line(path), column=dotted(path)
        )
        for path in unanswered(document.value)
    ]
    if missing:
        raise ManifestRejected("The manifest has questions that are not answered yet.", missing)
    manifest = build_manifest(document.value, boards, kinds)
    problems = [
        Problem(complaint, column=f"leaderboards.{board.name}.metric")
        for board in manifest.leaderboards
        for metric in board.metric_names()
        if (complaint := board.check_metric(manifest.metrics[metric])) is not None
    ]
    if problems:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return manifest


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as it is published: with the keys of every kind, those of other kinds at their defaults."""
    keys: dict[str, Any] = {}
    for kind in KINDS.values():
        defaults = kind.part.model_construct().model_dump(mode="json", by_alias=True)
        keys |= {key: defaults.get(key) for key in kind.part.model_fields}
    keys |= manifest.part.model_dump(mode="json", by_alias=True)
    # Where nothing is declared the document stays as short as it was asked for.
    hidden = {"part", *(key for key in ("entrant_fields", "news") if not getattr(manifest, key))}
    return with_part(manifest.model_dump(mode="json", by_alias=True, exclude=hidden), keys)


def manifest_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest, with the keys of every known kind and the boards of every known method.

    A key of one kind is never required: which kind it is, a schema of all of them does not ask.
    """
    boards: Any = Annotated[_one_of([method.spec for method in methods().values()]), Field(discriminator="method")]
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in Common.model_fields.items()}
    forms = {
        "evidence": Literal[tuple(KINDS)],
        "metrics": _one_of([Common.model_fields["metrics"].annotation, *_metrics_forms()]),
        "leaderboards": list[boards],
    }
    for name, form in forms.items():
        fields[name] = (form, Field(description=Common.model_fields[name].description))
    parts = {name: field for kind in KINDS.values() for name, field in kind.part.model_fields.items()}
    optional = {name: _optional(field) for name, field in parts.items()}
    described = create_model("Manifest", __base__=Part, **with_part(fields, optional))
    return {"$schema": DIALECT, "$id": SCHEMA_ID, **described.model_json_schema()}


def _one_of(types: Sequence[Any]) -> Any:
    return reduce(or_, types)


def _metrics_forms() -> list[Any]:
    return [kind.part.metrics_form for kind in KINDS.values() if kind.part.metrics_form is not None]


def _optional(field: FieldInfo) -> Any:
    annotation: Any = field.annotation
    if not field.is_required():
        return annotation, field
    return annotation | None, Field(None, description=field.description)
