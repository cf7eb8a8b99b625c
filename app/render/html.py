"""Pages as HTML: the base of every page, and its template."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import jinja2

from app.boards.entrant_fields import in_words
from app.names import plural
from app.program.bundled import bundled
from app.render import plot
from app.render.columns import entrant_numbers
from app.render.drawings import MAX_DRAWN
from app.render.glossary import brief_of
from app.render.institution import Institution
from app.render.plot import WHISKER_WIDTH
from app.render.saved import asset_url, scripts
from app.render.text import known_anchor, markdown, moment, path_of_name, plain_words, rule_in_words

TEMPLATES = bundled("templates")


Links = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page with logic of its own: its title, whether no server is there, and `template`, a file in `templates/`."""

    template: ClassVar[str]
    title: str
    is_preview: bool = False

    @property
    def card(self) -> str:
        """Return the absolute address of the picture by which other sites preview the page, or nothing."""
        return ""


def set_institution(own: Institution) -> None:
    """Let every page of this process be one of an institution's."""
    _environment().globals["own"] = own


def institution() -> Institution:
    """Return whose pages these are."""
    return cast("Institution", _environment().globals["own"])


def render_page(page: Page) -> bytes:
    """Return a page with logic of its own as HTML. A name in its template that it does not have is an error."""
    return _rendered(page.template, page)


def render(template: str, *, title: str, is_preview: bool = False, **shown: Any) -> bytes:
    """Return a template as HTML, which sees all of this as `page`. A name in it that was not given is an error."""
    return _rendered(template, SimpleNamespace(title=title, is_preview=is_preview, card="", **shown))


def _rendered(template: str, page: Page | SimpleNamespace) -> bytes:
    return _environment().get_template(template).render(page=page).encode()


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "addressed": path_of_name,
        "brief": brief_of,
        "known_anchor": known_anchor,
        "markdown": markdown,
        "moment": moment,
        "numbered": entrant_numbers,
        "plain": plain_words,
        "plural": plural,
        "rule": rule_in_words,
        "stated": in_words,
    }
    environment.globals |= {
        "stylesheet": asset_url("plumbline.css"),
        "scripts": scripts(),
        "whisker_width": WHISKER_WIDTH,
        "own": Institution(),
    }
    environment.globals |= {"plot_width": plot.WIDTH, "plot_height": plot.HEIGHT, "max_drawn": MAX_DRAWN}
    return environment
