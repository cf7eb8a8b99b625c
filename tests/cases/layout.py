"""What a browser makes of a page, in numbers that no font changes: where blocks begin and end, and in which colours.

A picture would differ with the fonts of a machine. Lines of text may break elsewhere here; blocks, columns and colours
stay, nothing lies on anything else, and nothing sticks out or is cut off.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome

KEPT = Path(__file__).parents[1] / "data" / "frozen" / "layout.json"
WIDTHS = (375, 1280, 1920)
SCHEMES = ("light", "dark")
TOLERANCE_PX = 3
BLOCKS = "body > header, main, h1, h2, .lead, .alert, .scroll, form.fields, body > footer"
COLORED = "body, h1, main a, th, td, button, input, .lead, footer a, svg.w path, svg.w circle"
LOOK = """
const [blocks, colored] = arguments, width = document.documentElement.clientWidth;
const seen = new Set(), name = each => each.tagName.toLowerCase() + (each.classList[0] ? '.' + each.classList[0] : '');
const first = each => !seen.has(name(each)) && seen.add(name(each));
const shown = each => each.getClientRects().length > 0 && getComputedStyle(each).visibility !== 'hidden';
const box = each => each.getBoundingClientRect();
const all = (where, root = document) => [...root.querySelectorAll(where)].filter(shown);
// A table is as wide as its words: of what holds one only the beginning is the page's own.
const ends = each => [box(each).left, each.classList.contains('scroll') ? null : box(each).right];
const boxes = Object.fromEntries(all(blocks).filter(first).map(each => [name(each), ends(each)]));
seen.clear();
const colors = Object.fromEntries(all(colored).filter(first).map(each => {
  const style = getComputedStyle(each), drawn = each instanceof SVGElement;
  return [name(each), drawn ? [style.fill, style.stroke] : [style.color, style.backgroundColor]];
}));
const parts = [...document.querySelectorAll('main > :not(#board), #board > *')]
  .filter(each => shown(each) && box(each).height > 0);
const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
const wrong = [];
if (document.documentElement.scrollWidth > width) wrong.push('the page scrolls sideways');
parts.forEach((one, at) => parts.slice(at + 1).forEach(other => {
  if (over(box(one), box(other))) wrong.push(`${name(one)} lies on ${name(other)}`);
}));
// What scrolls by itself and what is only read aloud is not cut.
all('main *:not(input):not(.sr)').filter(each => ['hidden', 'clip'].includes(getComputedStyle(each).overflowX)
  && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
  .forEach(each => wrong.push(`${name(each)} is cut`));
document.querySelectorAll('table').forEach(table => {
  const places = {};
  all('svg.w', table).forEach(each => {
    const at = each.closest('th, td').cellIndex;
    (places[at] = places[at] || new Set()).add(Math.round(box(each).left));
  });
  if (Object.values(places).some(each => each.size > 1)) wrong.push('whiskers of a column begin at several places');
});
return {boxes, colors, wrong};
"""


def look(driver: Chrome) -> dict[str, Any]:
    """Return the boxes, the colours and what is wrong with the page that is open."""
    seen: dict[str, Any] = driver.execute_script(LOOK, BLOCKS, COLORED)
    return seen


def show(driver: Chrome, scheme: str, width: int | None = None) -> None:
    """Ask for light or dark pages, on a screen of this width where one is given."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    if width is not None:
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        # Whether there is one depends on how high lines are.
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})


def kept_layout(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was kept; `PLUMBLINE_FREEZE=1` keeps what is seen now, and its diff is reviewed like code."""
    if os.environ.get("PLUMBLINE_FREEZE"):
        KEPT.write_text(json.dumps(seen, indent=1, sort_keys=True) + "\n", "utf-8")
    kept: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return kept


def moved(kept: Mapping[str, Sequence[float | None]], seen: Mapping[str, Sequence[float | None]]) -> Iterator[str]:
    """Yield each block that is gone, new, or further off than rounding."""
    for name in sorted(kept.keys() ^ seen.keys()):
        yield f"{name} is {'gone' if name in kept else 'new'}"
    for name in sorted(kept.keys() & seen.keys()):
        pairs = zip(kept[name], seen[name], strict=True)
        if any(a is not None and b is not None and abs(a - b) > TOLERANCE_PX for a, b in pairs):
            yield f"{name} is at {seen[name]}, was at {kept[name]}"
