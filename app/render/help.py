"""The documentation of this version as pages of the site: the Markdown of `docs/`, its links led to one another."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape

from markupsafe import Markup

from app.program.bundled import bundled
from app.render.text import markdown

HOME, RECORDS = "README.md", "adr/"
MOST_FOUND = 10
HEADING = re.compile(r"<(h[1-4])>(.*?)</\1>", re.DOTALL)
LINK = re.compile(r'<a href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Documentation:
    """A page: its title, its HTML, and the text of each of its parts by heading and anchor."""

    title: str
    content: Markup
    parts: tuple[tuple[str, str, str], ...]


@cache
def help_pages() -> Mapping[str, Documentation]:
    """Return every page by its name, the index by an empty one."""
    folder = bundled("docs")
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.md"))}
    return {_name(file): _page(file, path.read_text("utf-8"), files) for file, path in files.items()}


def help_on(text: str) -> Iterator[tuple[str, str]]:
    """Yield title and address of the first parts that have every word of a text: in the heading before elsewhere,
    records of decisions last.
    """
    words = re.findall(r"\w+", text.casefold())
    found = [
        ((name.startswith(RECORDS), not _has(heading.casefold(), words), name), page.title, heading, anchor)
        for name, page in help_pages().items()
        for heading, anchor, content in page.parts
        if words and _has(content, words)
    ]
    for (_, _, name), title, heading, anchor in sorted(found)[:MOST_FOUND]:
        yield f"{title}: {heading}" if heading != title else heading, f"{_address(name)}#{anchor}"


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _name(file: str) -> str:
    return "" if file == HOME else file.removesuffix(".md")


def _address(name: str) -> str:
    return f"/help/{name}" if name else "/help"


def _page(file: str, text: str, files: Mapping[str, object]) -> Documentation:
    anchors: set[str] = set()

    def with_anchor(heading: "re.Match[str]") -> str:
        plain = re.sub(r"[^\w\- ]", "", TAG.sub("", heading[2]).lower()).strip().replace(" ", "-") or "part"
        at, anchor = 1, plain
        while anchor in anchors:
            anchor, at = f"{plain}-{at}", at + 1
        anchors.add(anchor)
        return f'<{heading[1]} id="{anchor}">{heading[2]}</{heading[1]}>'

    def led(link: "re.Match[str]") -> str:
        path, hash_, anchor = link[1].partition("#")
        if re.match(r"https?://", link[1]) or not path:
            return link[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        # What is in the repository and not in the documentation has no page here.
        return f'<a href="{_address(_name(target))}{hash_}{anchor}">{link[2]}</a>' if target in files else link[2]

    html = LINK.sub(led, HEADING.sub(with_anchor, str(markdown(text))))
    parts = [_part(part) for part in re.split(r"(?=<h[1-4] id=)", html) if part.startswith("<h")]
    title = parts[0][0] if parts else file
    return Documentation(title, Markup(html), tuple(parts))  # noqa: S704 - cleaned by `markdown`, and ours


def _part(html: str) -> tuple[str, str, str]:
    """Return the heading, the anchor and the text to search of one part."""
    found = re.match(r'<h[1-4] id="([^"]*)">(.*?)</h[1-4]>', html, re.DOTALL)
    anchor, heading = (found[1], found[2]) if found else ("", "")
    return _plain(heading), anchor, _plain(html).casefold()


def _plain(html: str) -> str:
    return unescape(TAG.sub("", html)).strip()
