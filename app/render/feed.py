"""Changes as an Atom feed, robots.txt and the sitemap. Called by `app.web.front_page`; pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from app.store.news import News

ATOM = "http://www.w3.org/2005/Atom"
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def atom_feed(news: Sequence[News], title: str, base: str, path: str) -> bytes:
    """Return the changes as an Atom feed (RFC 4287); `base` is the address of this server, "" where none is set."""
    feed = Element("feed", xmlns=ATOM)
    SubElement(feed, "title").text = title
    SubElement(feed, "id").text = f"{base}{path}" if base else f"urn:plumbline:{path}"
    SubElement(feed, "updated").text = max((each.at for each in news), default=NEVER).isoformat()
    SubElement(feed, "link", rel="self", href=f"{base}{path}")
    SubElement(SubElement(feed, "author"), "name").text = "plumbline"
    for each in news:
        entry = SubElement(feed, "entry")
        SubElement(entry, "title").text = f"{each.slug}: {each.text}"
        SubElement(entry, "id").text = f"urn:plumbline:{each.slug}:{each.snapshot}:{each.kind}:{each.address}"
        SubElement(entry, "updated").text = each.at.isoformat()
        SubElement(entry, "link", href=f"{base}{each.address}")
        SubElement(entry, "summary").text = f"Snapshot {each.snapshot} of {each.slug}: {each.text}."
    return _document(feed)


def sitemap(paths: Sequence[str], base: str) -> bytes:
    """Return the addresses as a sitemap, which must be absolute: none where the server does not know its own."""
    root = Element("urlset", xmlns=SITEMAP)
    for path in paths if base else ():
        SubElement(SubElement(root, "url"), "loc").text = f"{base}{path}"
    return _document(root)


def _document(root: Element) -> bytes:
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def robots(base: str) -> str:
    """Return robots.txt: crawlers may read everything except pages computed for one reader, and old snapshots."""
    lines = [
        "User-agent: *",
        "Disallow: /*/explore?",
        "Disallow: /*/against?",
        "Disallow: /search",
        "Disallow: /*sort=",
    ]
    return "\n".join([*lines, *([f"Sitemap: {base}/sitemap.xml"] if base else [])]) + "\n"
