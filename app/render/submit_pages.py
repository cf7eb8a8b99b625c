"""The pages of whoever submits in a browser. Made by `app.web.submit_page` and `app.web.tries`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.db.models import Prereg, Try
from app.manifest.manifest import Manifest
from app.render.base_page import Page
from app.render.submit_example import SubmitExample
from app.store.mine import OwnSubmission


@dataclass(frozen=True, kw_only=True)
class SubmitPage(Page):
    """The form that sends an upload; `form_key` is that of the session, `metadata_fields` describe an entrant.

    `preregs` are the sender's own registrations here, `tries` and `submissions` what they sent before.
    """

    template = "submit.html"
    manifest: Manifest
    example: SubmitExample
    form_key: str
    metadata_fields: Sequence[tuple[str, str, str]]
    preregs: Sequence[Prereg]
    tries: Sequence[tuple[Try, str]]
    submissions: Sequence[OwnSubmission]


@dataclass(frozen=True, kw_only=True)
class TryPage(Page):
    """A dry run or a refused upload: what was answered, as its JSON has it."""

    template = "try.html"
    slug: str
    attempt: Try
    document: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class OwnPage(Page):
    """What the holder of a token has sent and tried, to all benchmarks."""

    template = "own.html"
    tries: Sequence[tuple[Try, str]]
    submissions: Sequence[OwnSubmission]
