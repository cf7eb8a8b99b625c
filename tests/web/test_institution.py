"""An institution's own: what is set is on every page and nowhere a script; what cannot be read is refused at start."""

import re
from pathlib import Path

import pytest

from app.config import PAPERS, PNG, Settings, contrast
from app.errors import SettingsError
from app.render.html import set_institution
from app.render.institution import Institution
from app.render.saved import palettes
from tests.fixtures import open_site

HOSTILE = """<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" onload="alert(1)"><script>alert(1)</script>
<image href="https://evil.example/a.png" width="9" height="9"/><rect width="30" height="20" fill="#a51c30"/></svg>"""
IMPRINT = "Institute of Boards <script>alert(1)</script> [us](javascript:alert(1))\n"


def read(**given: str | Path) -> Settings:
    """Read the settings of an institution from the environment."""
    return Settings.from_env({f"PLUMBLINE_SITE_{name.upper()}": str(value) for name, value in given.items()})


def test_what_an_institution_sets_is_on_its_pages_and_none_of_it_runs(database_url: str, tmp_path: Path) -> None:
    """Name, logo, colour, about, imprint and contact; of a hostile SVG a browser gets pixels alone."""
    logo, imprint = tmp_path / "logo.svg", tmp_path / "imprint.md"
    logo.write_text(HOSTILE)
    imprint.write_text(IMPRINT)
    own = read(name="Institute & Boards", logo=logo, accent="#a51c30", imprint=imprint, contact="boards@example.org")
    try:
        with open_site(database_url, own) as site:
            front, about = site.http.get("/").text, site.http.get("/about").text
            picture = site.http.get(re.findall(r'<img src="([^"]+)"', front)[0])
            style = site.http.get(next(each for each in re.findall(r'href="([^"]+)"', front) if "accent" in each))
            feed = site.http.get("/feed.atom").text
    finally:
        set_institution(Institution())

    assert "Institute &amp; Boards</title>" in front
    assert "Institute &amp; Boards</title>" in feed
    assert all(f'href="/about#{each}"' in front for each in ("imprint", "contact"))
    assert 'href="/about#about"' not in front
    assert (picture.headers["content-type"], picture.content[:8]) == ("image/png", PNG)
    assert "#a51c30" in style.text
    assert "prefers-color-scheme: dark" in style.text
    assert "mailto:boards@example.org" in about
    assert re.search(r'<script>|href="javascript:', about.split("<main")[1]) is None


def test_what_cannot_be_shown_or_read_is_refused_at_start(tmp_path: Path) -> None:
    """Every setting says what is wrong with it: no picture, too large, too pale, on which pages, no address."""
    (tmp_path / "page.svg").write_text("<html><script>alert(1)</script></html>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(300_000))
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe")
    wrong: dict[str, tuple[str | Path, str]] = {
        "logo": (tmp_path / "page.svg", "neither a PNG nor an SVG"),
        "about": (tmp_path / "none.md", "No such file"),
        "imprint": (tmp_path / "bytes.md", "utf-8"),
        "accent": ("#ffee00", "1.2:1 on light pages"),
        "contact": ("javascript:alert(1)", "e-mail address"),
        "name": ("a\nb", "one line"),
    }
    with pytest.raises(SettingsError) as refused:
        read(**{name: value for name, (value, _) in wrong.items()})
    for name, (_, why) in wrong.items():
        assert re.search(f"PLUMBLINE_SITE_{name.upper()}=[^;]*{re.escape(why)}", str(refused.value)), name
    with pytest.raises(SettingsError, match="256 KiB"):
        read(logo=tmp_path / "large.png")
    with pytest.raises(SettingsError, match="on dark pages"):
        read(accent="#a51c30 #a51c30")


def test_an_accent_of_one_colour_is_legible_on_both_papers() -> None:
    """The papers are those of the stylesheet; for dark pages the colour is made lighter."""
    light, dark = read(accent="#00008b").site_accents or ("", "")

    assert tuple(palette["paper"] for palette in palettes()) == PAPERS
    assert min(contrast(light, PAPERS[0]), contrast(dark, PAPERS[1])) >= 4.5
    assert light == "#00008b"
