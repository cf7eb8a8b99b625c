"""Files beside pages: pictures that can be saved, as SVG or PNG, and static files by digest.

A saved picture is the same drawing. Programs that read SVG outside browsers know no variables of stylesheets, so its
colours, for light and for dark, are taken from the site's stylesheet and put in as values.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from math import sqrt
from pathlib import Path

import resvg_py

from app.program.bundled import bundled
from app.render.plot import SHADES

RULES = """
text{{font-family:system-ui,DejaVu Sans,Liberation Sans,Noto Sans,Arial,sans-serif;font-size:12px;fill:{ink}}}
.tick,.ticks text{{fill:{soft}}}
.small{{font-size:9px}}
.mark{{fill:{ink};stroke:{paper};stroke-width:3;paint-order:stroke}}
path{{fill:none}}
.rule,.grid path{{stroke:{line}}}
.reach{{stroke:{whisker};stroke-width:1.3}}
.leader{{stroke:{line}}}
.front{{stroke:{mark};stroke-width:1.6}}
.together{{stroke:{heavy};stroke-width:4}}
.axis-line{{stroke:{heavy}}}
.diagonal{{stroke:{heavy};stroke-dasharray:3 3}}
.bar{{fill:{c9}}}
.bar.marked{{fill:{c1}}}
.lines{{stroke-width:1.8;stroke-linejoin:round}}
.points{{stroke-width:4;stroke-linecap:round}}
.band{{opacity:.14}}
.lost,.filled{{stroke:{bad};stroke-width:1.5}}
.gone{{stroke:{heavy}}}
.leaked{{fill:{paper};stroke:{ink};stroke-width:.8}}
"""

SERIES = """
.c{n} .lines,.c{n} .points{{stroke:{color}}}
.c{n} .bars,.c{n} .band,.c{n} circle,circle.c{n}{{fill:{color}}}
"""

N_COLORS = 10


def saved_style() -> str:
    """Return the style of a saved picture: paper and ink of the light page, or of the dark one if asked.

    The paper is filled too: a picture without a ground is black on black in a dark viewer.
    """
    light, dark = palettes()
    return f"{_rules(light)}@media (prefers-color-scheme:dark){{{_rules(dark)}}}"


def _rules(palette: Mapping[str, str]) -> str:
    shades = (f".q{n}{{fill:rgb({palette['win'].replace(' ', ',')});fill-opacity:{shade_of(n):g}}}"
              for n in range(SHADES + 1))  # fmt: skip
    series = "".join(SERIES.format(n=n, color=palette[f"c{n}"]) for n in range(N_COLORS))
    ground = f"svg{{background:{palette['paper']}}}"
    return re.sub(r"\n", "", ground + RULES.format(**palette) + series + "".join(shades))


def shade_of(step: int) -> float:
    """Return how much of the colour a shade has: the worst place must still be distinguishable from an empty square."""
    return round(0.08 + 0.84 * step / SHADES, 3)


@cache
def palettes() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the colours of the stylesheet by name, light and dark."""
    text = (STATIC / "plumbline.css").read_text("utf-8")
    colors: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for place, block in enumerate(re.findall(r":root \{(.*?)\}", text, re.DOTALL)[:2]):
        colors[place].update(re.findall(r"--([\w-]+): ([^;]+);", block))
    seen: dict[str, int] = {}
    for name, color in re.findall(r"\.(c\d) \{\s*--c: ([^;]+);", text):
        colors[seen.get(name, 0)][name] = color
        seen[name] = 1
    light, dark = colors
    return light, {**light, **dark}


NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def in_xml(text: str) -> str:
    r"""Return a picture with a sign for each character that no XML has: a title of a manifest of before may have one.

    >>> in_xml("a\x01b")
    'a\ufffdb'
    """
    return NOT_IN_XML.sub("\ufffd", text)


# A picture as PNG, for programs that take no SVG: slides, documents, previews of links. Fonts are those of the
# machine; the server's image has one.

ZOOM, MOST_PIXELS, LONGEST = 2.0, 8e6, 12_000.0
"""Sharp on fine screens; what is larger has fewer pixels to a unit, so that a picture takes at most 32 MB."""

PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15" {family}>{text}</text></svg>'

FAMILIES = 'font-family="DejaVu Sans,Liberation Sans,Noto Sans,Arial,Helvetica,Verdana,sans-serif"'


def has_a_font() -> bool:
    """Say whether letters can be drawn here: without a font a picture would have lost its words without a word."""
    return _probe("A") != _probe("")


@cache
def _probe(text: str) -> bytes:
    return bytes(resvg_py.svg_to_bytes(svg_string=PROBE.format(family=FAMILIES, text=text)))


def png_of(svg: str, width: float, height: float, paper: str) -> bytes:
    """Return a drawing of this size on paper of this colour, two pixels to its unit where it is not too large.

    >>> png_of('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>', 3, 2, "#fff")[1:4]
    b'PNG'
    """
    zoom = min(ZOOM, sqrt(MOST_PIXELS / (width * height)), LONGEST / max(width, height))
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, background=paper))


# The files of `static/` at addresses that change with their content, so that they may be kept for ever.
#
# `asset_url` and `scripts` are used by the templates, `assets` by the web. Files of others and their licences are
# listed in `static/vendored.json`.

STATIC = bundled("static")

MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

SCRIPTS = ("htmx.min.js", "plumbline.js")

ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    b'<path d="M12 1v10" stroke="#59626c" stroke-width="2"/>'
    b'<path d="M7 10h10v4l-5 9-5-9z" fill="#0a4f8f"/></svg>'
)


@cache
def asset_url(name: str) -> str:
    """Return the address of a file: its name with the digest of its bytes in it. Raises KeyError."""
    return _urls()[name]


@cache
def scripts() -> tuple[tuple[str, str], ...]:
    """Return the scripts of a page in their order: the address and the integrity digest of each."""
    return tuple((asset_url(name), _integrity(name)) for name in SCRIPTS)


def _integrity(name: str) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(_read(name)).digest()).decode()


@cache
def assets() -> Mapping[str, tuple[bytes, str]]:
    """Return every file by its address: bytes and media type."""
    return {url: (_read(name), MEDIA_TYPES[Path(name).suffix]) for name, url in _urls().items()}


@cache
def _urls() -> Mapping[str, str]:
    return {path.name: static_address(path.stem, path.suffix, _read(path.name))
            for path in sorted(STATIC.iterdir()) if path.suffix in MEDIA_TYPES}  # fmt: skip


def static_address(stem: str, suffix: str, content: bytes) -> str:
    """Return the address of a file, which changes with its bytes."""
    return f"/static/{stem}.{hashlib.sha256(content).hexdigest()[:12]}{suffix}"


@cache
def _read(name: str) -> bytes:
    return (STATIC / name).read_bytes()
