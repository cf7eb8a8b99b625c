"""Pages as HTML: the base of every page, and its template."""

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, cast

import jinja2

from app import render as room
from app.boards.entrant_fields import in_words
from app.names import plural
from app.program.bundled import bundled
from app.render import plot
from app.render.columns import ShownColumn, entrant_numbers, shown_columns
from app.render.drawings import MAX_DRAWN
from app.render.glossary import brief_of
from app.render.institution import Institution
from app.render.plot import WHISKER_WIDTH
from app.render.saved import asset_url, scripts
from app.render.text import known_anchor, markdown, moment, path_of_name, plain_words, rule_in_words

__all__ = ["ShownColumn", "render", "render_page", "shown_columns"]

TEMPLATES = bundled("templates")


Links = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page has: its title, and whether a server is there. `template` is the file in `templates/`."""

    template: ClassVar[str]
    title: str
    is_preview: bool = field(default=False, kw_only=True)

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
    """Return a page as HTML. A name in its template that the page does not have is an error."""
    return _environment().get_template(page.template).render(page=page).encode()


def render(template: str, **shown: Any) -> bytes:
    """Return the page of a template; `shown` are the fields of its type. Raises TypeError for other ones."""
    return render_page(page_types()[template](**shown))


@cache
def page_types() -> dict[str, type[Page]]:
    """Return each type of page by its template: those of the modules beside this one that are named …page or …pages."""
    for module in pkgutil.iter_modules(room.__path__):
        if module.name.endswith(("page", "pages")):
            import_module(f"{room.__name__}.{module.name}")
    return {kind.template: kind for kind in Page.__subclasses__()}


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
