"""A snapshot to cite, and a benchmark as a data set that programs find. Called by `app.web.syndication`; pure."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from app.manifest.manifest import Manifest

CONTEXT = {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/",
           "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo", "recordSet": "cr:recordSet",
           "field": "cr:field", "source": "cr:source", "fileObject": "cr:fileObject", "extract": "cr:extract",
           "column": "cr:column", "dataType": {"@id": "cr:dataType", "@type": "@vocab"}}  # fmt: skip
SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip
TYPES = {"integer": "sc:Integer", "number": "sc:Float", "flag": "sc:Boolean", "time": "sc:DateTime"}


def bibtex(manifest: Manifest, snapshot: int, digest: str, at: datetime, address: str) -> str:
    """Return a snapshot as a BibTeX entry; `address` is the one that always gives it."""
    return (
        f"@misc{{{manifest.slug}-snapshot-{snapshot},\n"
        f"  title = {{{_tex(manifest.title)}, snapshot {snapshot}}},\n"
        f"  year = {{{at:%Y}}},\n"
        f"  month = {{{at:%m}}},\n"
        f"  url = {{{address}}},\n"
        f"  note = {{Published {at:%Y-%m-%d} by plumbline; inputs {digest[:12]}}}\n"
        "}\n"
    )


def _tex(text: str) -> str:
    return re.sub(r"[\\{}&%$#_~^]", lambda match: SPECIAL[match.group()], text)


def croissant(
    manifest: Manifest, base: str, boards: Sequence[tuple[str, Sequence[tuple[str, str]]]], snapshot: int, at: datetime
) -> dict[str, Any]:
    """Return a benchmark's boards as Croissant metadata (JSON-LD); `boards` are names with their (column, kind)."""
    home = f"{base}/benchmarks/{manifest.slug}"
    files = [
        {"@type": "cr:FileObject", "@id": f"{name}.csv", "name": f"{name}.csv", "encodingFormat": "text/csv",
         "contentUrl": f"{home}/leaderboards/{name}.csv?snapshot={snapshot}"}
        for name, _ in boards
    ]  # fmt: skip
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": manifest.slug,
        "alternateName": manifest.title,
        "description": manifest.description,
        "url": home,
        "version": f"{snapshot}.0.0",
        "datePublished": at.isoformat(),
        "distribution": files,
        "recordSet": [{"@type": "cr:RecordSet", "@id": name, "name": name, "field": list(map(_field(name), columns))}
                      for name, columns in boards],
    }  # fmt: skip


def _field(board: str) -> Any:
    def field(column: tuple[str, str]) -> dict[str, Any]:
        name, kind = column
        source = {"fileObject": {"@id": f"{board}.csv"}, "extract": {"column": name}}
        return {"@type": "cr:Field", "@id": f"{board}/{name}", "name": name, "dataType": TYPES.get(kind, "sc:Text"),
                "source": source}  # fmt: skip

    return field
