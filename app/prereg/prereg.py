"""Preregistrations: what was meant to be measured, declared before the run and addressed by its bytes.

Called where one is registered (`web`, `cli`) and where a stored one is parsed again (`store`).
"""

import hashlib
from collections.abc import Callable, Mapping

from app.errors import PreregRejected, Problem, Rejected
from app.prereg.document import read_document_form
from app.prereg.fields import Fields
from app.prereg.forms import read_axis, read_evaluation
from app.prereg.prml import is_prml, read_prml
from app.prereg.resampling import refuse_iid_anywhere, refuse_other_purposes
from app.prereg.shared import read_shared
from app.prereg.values import Form, Hypothesis, Prereg
from app.yaml.strict import Document, read_document

__all__ = ["MAX_BYTES", "Hypothesis", "Prereg", "git_blob_sha1", "parse_prereg", "sha256_hex"]

MAX_BYTES = 64 * 1024

# Keys that only one form has: they identify it.
FORM_KEYS: Mapping[Form, tuple[str, ...]] = {
    "axis": ("axis", "condition_pair"),
    "document": ("schema_version", "schema", "task_id", "decision_rules"),
    "evaluation": ("benchmark", "entrants", "hypotheses"),
}
_READERS: Mapping[Form, Callable[[Fields, Prereg], Prereg]] = {
    "axis": read_axis,
    "document": read_document_form,
    "evaluation": read_evaluation,
}
_FORMS_IN_WORDS = "; ".join(f"the {form} form has {', '.join(keys)}" for form, keys in FORM_KEYS.items())


def parse_prereg(data: bytes) -> Prereg:
    """Read a preregistration of any form. Raises PreregRejected with every problem it has."""
    try:
        document = read_document(data, max_bytes=MAX_BYTES, what="The preregistration")
    except Rejected as error:
        raise PreregRejected(error.detail, error.problems, n_problems=error.n_problems) from error
    problems: list[Problem] = []
    prereg = _read(document, problems)
    if problems or prereg is None:
        in_order_of_text = sorted(problems, key=lambda problem: problem.row or 0)
        raise PreregRejected("The preregistration breaks the rules below.", in_order_of_text)
    return prereg


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes, in hexadecimal: the address of a preregistration."""
    return hashlib.sha256(data).hexdigest()


def git_blob_sha1(data: bytes) -> str:
    """Return the id that git gives to a file with these bytes, as CHAMBER's bundles cite it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _read(document: Document, problems: list[Problem]) -> Prereg | None:
    if not isinstance(document.value, dict):
        problems.append(Problem("expected a mapping at the top level", row=document.line(())))
        return None
    fields = Fields(document, problems, (), document.value)
    if is_prml(fields):
        return read_prml(fields, read_shared(fields, "evaluation"))
    form = _recognise(fields)
    if form is None:
        read_shared(fields, "evaluation")  # only for its problems: the shared keys mean the same in every form
        return None
    shared = read_shared(fields, form)
    prereg = _READERS[form](fields, shared)
    refuse_other_purposes(fields, shared.run_purpose)
    refuse_iid_anywhere(fields, shared.run_purpose)
    return prereg


def _recognise(fields: Fields) -> Form | None:
    """Return the form whose keys the document has; refuse a document that matches no form, or several."""
    present = {form: [key for key in keys if key in fields.mapping] for form, keys in FORM_KEYS.items()}
    forms = [form for form, keys in present.items() if keys]
    if len(forms) == 1:
        return forms[0]
    if forms:
        mixed = " and ".join(f"{', '.join(present[form])} ({form} form)" for form in forms)
        fields.refuse(f"keys of {len(forms)} forms in one preregistration: {mixed}; register one form")
    else:
        fields.refuse(f"no form of preregistration has these keys: {_FORMS_IN_WORDS}")
    return None
