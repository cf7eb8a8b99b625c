"""What an institution sets of its pages: name, logo, accent colour, about, imprint and contact.

A logo is drawn by this server, so that nothing of an SVG but its pixels reaches a browser. The accent is a stylesheet
of its own, because nothing is inline in a page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from markupsafe import Markup

from app.config import Settings, drawn_logo
from app.render.saved import static_address
from app.render.text import markdown

NO_CONTACT = """Whoever runs this server has stated no address here.

To report a wrong result, open its submission and choose *Dispute it*. That reaches the stewards of the benchmark, and
their answer is public.
"""


@dataclass(frozen=True)
class Institution:
    """Whose server it is. `logo` is a PNG, `accent` two colours, on light paper and on dark; texts are Markdown."""

    name: str = "plumbline"
    logo: bytes | None = None
    accent: tuple[str, str] | None = None
    about: str = ""
    imprint: str = ""
    contact: str = ""

    @property
    def sections(self) -> list[tuple[str, str, Markup]]:
        """Return anchor, title and content of what is stated at /about."""
        mail = f"[{self.contact}](mailto:{self.contact})" if "://" not in self.contact else f"<{self.contact}>"
        stated = (("about", "About", self.about), ("imprint", "Imprint", self.imprint),
                  ("contact", "Contact", mail if self.contact else NO_CONTACT))  # fmt: skip
        return [(anchor, title, markdown(text)) for anchor, title, text in stated if text]

    @cached_property
    def files(self) -> Mapping[str, tuple[bytes, str]]:
        """Return its own files by address, each its bytes and media type."""
        return {static_address(stem, suffix, content): (content, media)
                for stem, suffix, content, media in self._contents()}  # fmt: skip

    @property
    def logo_url(self) -> str | None:
        """Return the address of the logo."""
        return next((url for url, (_, media) in self.files.items() if media == "image/png"), None)

    @property
    def style_url(self) -> str | None:
        """Return the address of the stylesheet with the accent."""
        return next((url for url, (_, media) in self.files.items() if media.startswith("text/css")), None)

    def _contents(self) -> list[tuple[str, str, bytes, str]]:
        contents = []
        if self.logo is not None:
            contents.append(("logo", ".png", self.logo, "image/png"))
        if self.accent is not None:
            light, dark = (f":root {{ --mark: {each}; --link: {each}; }}" for each in self.accent)
            style = f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"
            contents.append(("accent", ".css", style.encode(), "text/css; charset=utf-8"))
        return contents


@cache
def institution_of(settings: Settings) -> Institution:
    """Return the institution that the settings name."""
    about, imprint = (
        "" if path is None else path.read_text("utf-8") for path in (settings.site_about, settings.site_imprint)
    )
    return Institution(
        settings.site_name,
        None if settings.site_logo is None else drawn_logo(settings.site_logo.read_bytes()),
        settings.site_accents,
        about,
        imprint,
        settings.site_contact or "",
    )
