"""A picture as PNG, for programs that take no SVG: slides, documents, previews of links.

Called by `app.web.answers` and `app.web.syndication` with SVG that this program wrote. Fonts are those of the machine;
the server's image has one.
"""

from functools import cache
from math import sqrt

import resvg_py

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
