"""A picture as a file of its own: the same drawing, with its colours written out for light and for dark.

Called by `app.render.html`. Programs that read SVG outside browsers know no variables of stylesheets, so the colours
are taken from the site's stylesheet and put in as values.
"""

import re
from collections.abc import Mapping
from functools import cache

from app.render.assets import STATIC

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
N_COLORS, N_SHADES = 10, 9


def saved_style() -> str:
    """Return the style of a saved picture: paper and ink of the light page, and of the dark one where it is asked for.

    The paper is filled too: a picture without a ground is black on black in a dark viewer.
    """
    light, dark = palettes()
    return f"{_rules(light)}@media (prefers-color-scheme:dark){{{_rules(dark)}}}"


def _rules(palette: Mapping[str, str]) -> str:
    shades = (f".q{n}{{fill:rgb({palette['win'].replace(' ', ',')});fill-opacity:{shade_of(n):g}}}"
              for n in range(N_SHADES))  # fmt: skip
    series = "".join(SERIES.format(n=n, color=palette[f"c{n}"]) for n in range(N_COLORS))
    ground = f"svg{{background:{palette['paper']}}}"
    return re.sub(r"\n", "", ground + RULES.format(**palette) + series + "".join(shades))


def shade_of(step: int) -> float:
    """Return how much of the colour a shade has: the worst place must still be distinguishable from an empty square."""
    return round(0.08 + 0.84 * step / (N_SHADES - 1), 3)


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
