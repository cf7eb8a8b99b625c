"""The pages of one entrant: its card, and the form that changes what it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.manifest.model import EntrantField
from app.render.html import Page
from app.render.pages import RefusedForm


@dataclass(frozen=True, kw_only=True)
class EntrantFormPage(Page):
    """The form that changes what an entrant is; without one, the form that takes a file of many.

    `values` are as they are typed, `seen` is the last change that they include, `own` are the entrants to choose from,
    and `form_key` is that of the session. Of a form that was refused, `values` are what was typed, `now` what holds.
    """

    template = "entrant_form.html"
    slug: str
    fields: Sequence[EntrantField]
    form_key: str
    entrant: str | None
    own: Sequence[str]
    values: Mapping[str, str] = field(default_factory=dict)
    seen: int = 0
    now: Mapping[str, str] = field(default_factory=dict)
    refusal: RefusedForm | None = None
