"""Boards elsewhere: badges, citations, feeds, Every Eval Ever and Hugging Face's evaluation results.

Everything that people wrote is escaped. Widths are estimated, as no font can be measured here: text states how long it
may be, and browsers fit it. As evaluations a board's scores are its columns that say which way is better; whoever has
no score of a board is left out of it there.
Sources: evaleval/every_eval_ever `eval.schema.json` 0.3.0; huggingface_hub 2.4, `EvalResultEntry` and `EvalResult`.
"""

import re
import textwrap
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring
from xml.sax.saxutils import escape, quoteattr

from app.boards.statement import beside_choice
from app.manifest.model import Manifest
from app.render.text import format_cell
from app.store.news import News
from app.values.table import Cell, Column, Table

CHARACTER, PAD, HEIGHT = 6.6, 6.0, 20.0

LONGEST = 48

BLUE, GREY, DARK, CHOSEN = "#0a4f8f", "#6b7885", "#1d2125", "#7a5200"

LINE, LINE_LENGTH, MOST_LINES = 14.0, 104, 4

TITLE_LENGTH = 78

FIRST_PLACES, ROW = 10, 22.0


@dataclass(frozen=True)
class BadgeContents:
    """The contents of a badge: the board, the rank in words, whether it is current, and what the board says of all."""

    board: str
    words: str
    is_current: bool
    statement: str = ""


def place_of(table: Table, entrant: str, *, is_current: bool, snapshot: int) -> BadgeContents:
    """Return the place of an entrant on a board with its rank interval, or that it is unranked or gone."""
    rows = [row for row in table.records() if row.get("entrant") == entrant]
    n_ranked = sum(row.get("rank") is not None for row in table.records())
    words = _words(rows[0], n_ranked) if rows else "not on the board"
    if "unavailable" in table.meta and not rows:
        words = "cannot be computed"
    placed = words if is_current else f"{words}, snapshot {snapshot}"
    return BadgeContents(table.title, placed, is_current and bool(rows), " ".join(table.meta.get("statement", ())))


def choice_of(table: Table) -> str:
    """Return a reader's choice in words, as shown in every picture of it; empty on the benchmark's own boards."""
    choice = table.meta.get("choice")
    if isinstance(choice, Mapping):
        return f"{choice['label']}: {choice['said']}"
    return table.notes[0] if table.name.startswith("explore/") and table.notes else ""


def _words(row: dict[str, Cell], n_ranked: int) -> str:
    if row.get("rank") is None:
        return f"no rank: {row.get('unranked_because') or row.get('label') or 'not ranked'}"
    return f"rank {_rank(row)} of {n_ranked}"


def badge(place: BadgeContents) -> bytes:
    """Return the badge as SVG: grey where the place is not that of the current snapshot."""
    left, right = _clip(place.board), _clip(place.words)
    widths = [len(text) * CHARACTER + 2 * PAD for text in (left, right)]
    total = sum(widths)
    label = f"{place.board}: {place.words}"
    label += f". {place.statement}" if place.statement else ""
    color = BLUE if place.is_current else GREY
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{HEIGHT:.0f}" role="img" '
        f"aria-label={quoteattr(label)}>",
        f"<title>{escape(label)}</title>",
        f'<rect width="{total:.0f}" height="{HEIGHT:.0f}" rx="3" fill="{DARK}"/>',
        f'<path d="M{widths[0]:.0f} 0h{widths[1] - 3:.0f}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{widths[1] - 3:.0f}z" '
        f'fill="{color}"/>',
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">',
        _text(left, widths[0] / 2, widths[0] - 2 * PAD),
        _text(right, widths[0] + widths[1] / 2, widths[1] - 2 * PAD),
        "</g></svg>",
    ]
    return "".join(parts).encode()


def _text(text: str, at: float, width: float) -> str:
    return f'<text x="{at:.1f}" y="14" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _clip(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def board_picture(table: Table, benchmark: str, snapshot: int, filtered: str = "") -> tuple[bytes, tuple[float, float]]:
    """Return the first places of a board as SVG, for pages that cannot embed a table, with its size.

    It states the title of the `benchmark`, what a reader chose, how the rows were `filtered`, and who leads, in words.
    """
    ranked = [row for row in table.records() if row.get("rank") is not None]
    title, score = f"{benchmark}: {table.title}", _score_column(table)
    rows = [(_rank(row), _clip(str(row["entrant"])), _score(score, row)) for row in ranked[:FIRST_PLACES]]
    shown_as = next((column.title for column in table.columns if column.name == "entrant"), "Entrant")
    heads = ("Rank", shown_as, "" if score is None else score.title)
    asked = _wrapped(choice_of(table)) + _wrapped(f"Filtered by a reader. {filtered}" if filtered else "")
    asked += _wrapped(" ".join(beside_choice(table.meta)))
    head = LINE * len(asked)
    height = ROW * (len(rows) + 3) + 2 * PAD + head
    caption = f"snapshot {snapshot}; {len(ranked):,} ranked"
    if any(row.get("rank_low") is not None for row in ranked):
        caption += "; in brackets the ranks that each may have"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height:.0f}" role="img" '
        f"aria-label={quoteattr(title)}>",
        f'<rect width="640" height="{height:.0f}" fill="#fdfdfc"/>',
        f'<g fill="{DARK}" font-family="Verdana,DejaVu Sans,sans-serif" font-size="12">',
        f'<text x="12" y="20" font-weight="bold">{escape(_clip(title, TITLE_LENGTH))}</text>',
        *(
            f'<text x="12" y="{34 + LINE * at:.0f}" font-size="10" fill="{CHOSEN}">{escape(line)}</text>'
            for at, line in enumerate(asked)
        ),
        f'<g font-size="10" fill="{GREY}">',
        *_row(heads, ROW * 2 + head),
        "</g>",
        *(line for at, row in enumerate(rows) for line in _row(row, ROW * (at + 3) + head)),
        f'<text x="12" y="{height - PAD:.0f}" font-size="10" fill="{GREY}">{escape(caption)}</text></g></svg>',
    ]
    return "".join(lines).encode(), (640.0, height)


def _wrapped(text: str) -> list[str]:
    """Return a sentence wrapped to a limited number of lines: the rest is at the address of the board."""
    return textwrap.wrap(text, LINE_LENGTH, max_lines=MOST_LINES, placeholder=" …")


def _row(row: Sequence[str], y: float) -> list[str]:
    places = ((12, "start"), (110, "start"), (628, "end"))
    return [
        f'<text x="{x}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
        for (x, anchor), text in zip(places, row, strict=True)
    ]


def _rank(row: dict[str, Cell]) -> str:
    """Return the rank of a row with the ranks that it may have."""
    low, high = row.get("rank_low"), row.get("rank_high")
    if low is None:
        return f"{row['rank']}"
    return f"{row['rank']} ({low})" if low == high else f"{row['rank']} ({low}–{high})"


def _score_column(table: Table) -> Column | None:
    scored = [column for column in table.columns if column.kind == "number" and column.interval is not None]
    named = [column for column in table.columns if column.name == table.meta.get("rank_by")] or scored
    return named[0] if named else None


def _score(column: Column | None, row: dict[str, Cell]) -> str:
    return "" if column is None or row.get(column.name) is None else format_cell(column, row[column.name])


# A snapshot to cite, and a benchmark as a data set that programs find.

CONTEXT = {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/", "sc": "https://schema.org/",
           "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo", "recordSet": "cr:recordSet",
           "field": "cr:field", "source": "cr:source", "fileObject": "cr:fileObject", "extract": "cr:extract",
           "column": "cr:column", "dataType": {"@id": "cr:dataType", "@type": "@vocab"}}  # fmt: skip

SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip

TYPES = {"integer": "sc:Integer", "number": "sc:Float", "flag": "sc:Boolean", "time": "sc:DateTime"}


def bibtex(manifest: Manifest, board: str, snapshot: int, digest: str, at: datetime, address: str) -> str:
    """Return a snapshot as a BibTeX entry, of a board if one is named; `address` is the one that always gives it."""
    of_board = f", {board}" if board else ""
    return (
        f"@misc{{{manifest.slug}-snapshot-{snapshot},\n"
        f"  title = {{{_tex(manifest.title + of_board)}, snapshot {snapshot}}},\n"
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


# Changes as an Atom feed, robots.txt and the sitemap.

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
    """Return robots.txt: crawlers may read all but pages for one reader and citations, which keep snapshots."""
    lines = [
        "User-agent: *",
        "Disallow: /*/explore?",
        "Disallow: /*/against?",
        "Disallow: /search",
        "Disallow: /*sort=",
        "Disallow: /*/cite.bib",
    ]
    return "\n".join([*lines, *([f"Sitemap: {base}/sitemap.xml"] if base else [])]) + "\n"


SCHEMA_VERSION = "0.3.0"
NAMESPACE = uuid.UUID("7d8c5b0e-3f1e-4c59-9a53-6d3e2c1b7a11")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
RANGES: Mapping[str, tuple[float | None, float | None]] = {
    "win_rate": (0.0, 1.0),
    "skill_score": (None, 1.0),
    "mean_rank": (1.0, None),
}
AVERAGES = ("_iqm", "_mean", "_public_part", "_all_items", "_best_threshold", "_ydf")
"""Suffixes of columns that are a metric by another statistic, and stay within its range."""
UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


@dataclass(frozen=True)
class SnapshotBoards:
    """One published state: `boards` by name, and where and by which code it was published."""

    manifest: Manifest
    boards: Mapping[str, Table]
    snapshot: int
    at: datetime
    code_version: str
    home: str

    @property
    def seconds(self) -> str:
        """Return the time of the publication as Unix seconds."""
        return f"{self.at.timestamp():.0f}"

    def address(self, board: str) -> str:
        """Return the permanent address of a board."""
        return f"{self.home}/leaderboards/{board}?snapshot={self.snapshot}"

    def entrants(self) -> list[str]:
        """Return every entrant of the boards, in their order."""
        named = [str(row["entrant"]) for table in self.boards.values() if "entrant" in table.column_names()
                 for row in table.records()]  # fmt: skip
        return list(dict.fromkeys(named))


@dataclass(frozen=True)
class Scored:
    """One score of an entrant on a board, with its interval."""

    board: str
    table: Table
    column: Column
    score: float
    interval: tuple[float, float] | None
    row: Mapping[str, Cell]

    @property
    def name(self) -> str:
        """Return the name of the score within its benchmark."""
        return f"{self.board}/{self.column.name}"

    @property
    def ranks(self) -> bool:
        """Say whether the ranks of the board are by this score."""
        return self.table.meta.get("rank_by") == self.column.name


def scores_of(source: SnapshotBoards, entrant: str) -> Iterator[Scored]:
    """Yield every score of an entrant, board by board."""
    for board, table in source.boards.items():
        own = next((row for row in table.records() if row.get("entrant") == entrant), None)
        for column in score_columns(table) if own is not None else ():
            value = own[column.name] if own is not None else None
            if own is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
                yield Scored(board, table, column, float(value), _interval(column, own), own)


def score_columns(table: Table) -> list[Column]:
    """Return the columns of a board that are scores: numbers of which one way is better, with an interval."""
    scored = [c for c in table.columns if c.kind == "number" and c.direction is not None]
    with_interval = [column for column in scored if column.interval is not None]
    return with_interval or scored[:1]


def _interval(column: Column, row: Mapping[str, Cell]) -> tuple[float, float] | None:
    ours = (f"{column.name}_calibrated_low", f"{column.name}_calibrated_high")
    low, high = (row.get(name) for name in (ours if ours[0] in row else column.interval or ("", "")))
    return (float(low), float(high)) if isinstance(low, (int, float)) and isinstance(high, (int, float)) else None


def every_eval_ever(source: SnapshotBoards) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a file for each entrant that has a score: its place under `data/`, and the document."""
    for entrant in source.entrants():
        results = [_result(source, scored) for scored in scores_of(source, entrant)]
        if results:
            number = uuid.uuid5(NAMESPACE, f"{source.home}\n{source.snapshot}\n{entrant}")
            developer, _, model = entrant.rpartition("/")
            folder = f"{_safe(developer) or 'unknown'}/{_safe(model) or 'unnamed'}"
            yield f"data/{source.manifest.slug}/{folder}/{number}.json", _evaluation_document(source, entrant, results)


def _safe(text: str) -> str:
    """Return a name as a folder; two that become the same one have files of different numbers in it."""
    return UNSAFE.sub("_", text).strip("._")[:100]


def _evaluation_document(source: SnapshotBoards, entrant: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    developer = {"developer": entrant.rpartition("/")[0]} if "/" in entrant else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{source.manifest.slug}/{entrant}/{source.seconds}",
        "retrieved_timestamp": source.seconds,
        "source_metadata": {
            "source_name": source.manifest.title,
            "source_type": "evaluation_run",
            "source_organization_name": "plumbline",
            "source_organization_url": source.home,
            # It is not known here whether the submitter is the model's developer or somebody else.
            "evaluator_relationship": "other",
            "additional_details": {"snapshot": str(source.snapshot)},
        },
        "eval_library": {"name": "plumbline", "version": source.code_version},
        "model_info": {"name": entrant, "id": entrant, **developer, "additional_details": UNKNOWN},
        "evaluation_results": list(results),
    }


def _result(source: SnapshotBoards, scored: Scored) -> dict[str, Any]:
    return {
        "evaluation_result_id": scored.name,
        "evaluation_name": f"{source.manifest.title}: {scored.table.title}",
        "source_data": {
            "dataset_name": source.manifest.title,
            "source_type": "url",
            "url": [source.address(scored.board)],
        },
        "metric_config": _metric(source.manifest, scored.column),
        "score_details": {
            "score": scored.score,
            "details": _standing(scored.row, is_ranked=scored.ranks),
            **_uncertainty(scored),
        },
    }


def _metric(manifest: Manifest, column: Column) -> dict[str, Any]:
    low, high = _range(manifest, column.name)
    return {
        "metric_id": column.name,
        "metric_name": column.title,
        **({"metric_unit": column.unit} if column.unit else {}),
        "lower_is_better": column.direction == "minimize",
        "score_type": "continuous",
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
    }


def _range(manifest: Manifest, name: str) -> tuple[float | None, float | None]:
    """Return the range of a column of scores: that of its metric, where it is an average of it."""
    if name in RANGES:
        return RANGES[name]
    averaged = name.removeprefix("group_").removeprefix("mean_").removeprefix("metric__")
    stems = (name, averaged, *(name.removesuffix(end) for end in AVERAGES if name.endswith(end)))
    declared = next((manifest.metrics[stem] for stem in stems if stem in manifest.metrics), None)
    return (None, None) if declared is None else (declared.min, declared.max)


PLACE = ("rank", "rank_low", "rank_high")


def _standing(row: Mapping[str, Cell], *, is_ranked: bool) -> dict[str, str]:
    stated = {name: row.get(name) for name in (*(PLACE if is_ranked else ()), "covered", "unranked_because")}
    return {name: str(value) for name, value in stated.items() if value is not None}


def _uncertainty(scored: Scored) -> dict[str, Any]:
    if scored.interval is None:
        return {}
    level, n_resamples = scored.table.meta.get("level"), scored.table.meta.get("n_resamples")
    how = scored.row.get(f"{scored.column.name}_calibrated_how")
    document: dict[str, Any] = {"lower": scored.interval[0], "upper": scored.interval[1], "method": how or "bootstrap"}
    if isinstance(level, float):
        document["confidence_level"] = level
    is_drawn = how is None and isinstance(n_resamples, int) and n_resamples
    drawn = {"num_bootstrap_samples": n_resamples} if is_drawn else {}
    return {"uncertainty": {"confidence_interval": document, **drawn}}


def hub_results(source: SnapshotBoards, entrant: str, dataset: str) -> list[dict[str, Any]]:
    """Return an entrant's scores as `.eval_results/*.yaml` of its model: an entry for each board and score.

    `dataset` is the benchmark's own repository on the Hub; its `eval.yaml` has the tasks, see `hub_benchmark`.
    """
    return [
        {
            "dataset": {"id": dataset, "task_id": task_id(scored)},
            "value": scored.score,
            "date": source.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "source": {"url": source.address(scored.board), "name": source.manifest.title},
            "notes": "; ".join(
                f"{name} {value}" for name, value in _standing(scored.row, is_ranked=scored.ranks).items()
            ),
        }
        for scored in scores_of(source, entrant)
    ]


def task_id(scored: Scored) -> str:
    """Return the task of a score in the benchmark's `eval.yaml`."""
    return _safe(scored.name)


def hub_benchmark(source: SnapshotBoards) -> dict[str, Any]:
    """Return `eval.yaml` of the benchmark's repository on the Hub: a task for each board and score."""
    tasks = [
        {"id": _safe(f"{board}/{column.name}"), "config": board, "split": "test"}
        for board, table in source.boards.items()
        for column in score_columns(table)
    ]
    described = source.manifest.description or source.manifest.title
    return {
        "name": source.manifest.title,
        "description": described,
        "evaluation_framework": "plumbline",
        "tasks": tasks,
    }


def model_index(source: SnapshotBoards, entrant: str) -> dict[str, Any]:
    """Return an entrant's scores as `model-index` of its model card.

    It has no place for a remark, so a score of a part of what is asked, which has no rank, is not in it.
    """
    results = [
        {
            "task": {"type": "other", "name": scored.table.title},
            "dataset": {"name": source.manifest.title, "type": source.manifest.slug, "config": scored.board},
            "metrics": [{"type": scored.column.name, "name": scored.column.title, "value": scored.score}],
            "source": {"name": source.manifest.title, "url": source.address(scored.board)},
        }
        for scored in scores_of(source, entrant)
        if scored.row.get("unranked_because") is None
    ]
    return {"model-index": [{"name": entrant, "results": results}]}
