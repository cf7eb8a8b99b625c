"""What a browser is shown of results that have no manifest yet: a draft of one, and the evidence that they would be.

Drafting takes pandas, which the web process does not load: it is asked of a reader, and answers in plain values.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.errors import Problem, Rejected
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence


def look(
    files: Sequence[SentFile], folder: Path, stated: Mapping[str, Any], limits: Limits
) -> tuple[dict[str, Any], Evidence | None]:
    """Return the draft of a manifest of results as a document, and the results as its evidence where it is whole.

    `stated` has what is known already, as `app.receiving.drafting.Wishes` and its roles name it. Raises
    EvidenceRejected where the files are no table. Labels are no evidence, so there is none of them.
    """
    from app.receiving.drafting import Roles, Wishes, draft_manifest, is_labels, plain_slug, plain_title, read_sheet

    sheet, questions = read_sheet(files, folder, limits), list[str]()

    def nobody(question: str, answers: Sequence[str]) -> None:
        del answers
        questions.append(question)

    wishes = Wishes(stated["slug"], stated["title"], Roles(**stated["roles"]), stated["directions"], stated["schema"])
    stem = Path(files[0].name).stem if files else ""
    draft = draft_manifest(sheet, stem, wishes, nobody)
    roles = draft.roles
    document: dict[str, Any] = {
        "yaml": draft.text,
        "slug": plain_slug(wishes, stem),
        "title": wishes.title or plain_title(stem),
        "n_rows": len(sheet.frame),
        "n_missing": draft.n_missing,
        "columns": sheet.columns,
        "numeric": list(draft.offered),
        "roles": {name: getattr(roles, name) for name in ("entrant", "task", "condition", "seed", "item")},
        "metrics": [
            {"column": each.column, "name": each.name, "direction": each.direction, "low": each.low, "high": each.high,
             "unit": each.unit, "observed": each.observed}
            for each in draft.metrics
        ],
        "questions": questions,
        "left_out": list(sheet.left_out),
        "problems": [],
        "are_labels": is_labels(sheet),
    }  # fmt: skip
    if document["are_labels"]:
        return document, None
    try:
        manifest = parse_manifest(draft.text.encode())
        return document, read_evidence(manifest, files, None, limits)
    except Rejected as error:
        problems = error.problems or (Problem(error.detail),)
        return {**document, "problems": [problem.as_dict() for problem in problems]}, None
