"""Strict YAML: what is read, what is refused, and that hostile text costs no more than its size."""

import random
from pathlib import Path

import pytest
import yaml

from app.errors import MAX_PROBLEMS, Problem, Rejected
from app.yaml import read_document, read_yaml

CHAMBER = Path(__file__).parents[1] / "data" / "chamber_prereg"
CHAMBER_FILES = sorted(CHAMBER.glob("prereg*/*.yaml"))
KIB_64 = 64 * 1024


def read(text: str | bytes) -> object:
    """Read `text` under the limit of a preregistration."""
    data = text.encode() if isinstance(text, str) else text
    return read_yaml(data, max_bytes=KIB_64, what="The test")


def refusal(text: str | bytes) -> Rejected:
    """Return the error with which `text` is refused."""
    with pytest.raises(Rejected) as caught:
        read(text)
    return caught.value


def the_problem(text: str | bytes) -> Problem:
    """Return the only problem of `text`."""
    problems = refusal(text).problems
    assert len(problems) == 1
    return problems[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1.0e-3", 0.001),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
    ],
)
def test_core_schema_scalars_get_their_value(text: str, value: object) -> None:
    """Numbers, booleans and null are read as the core schema of YAML 1.2 says, with their type."""
    actual = read(f"key: {text}")

    assert actual == {"key": value}
    assert isinstance(actual, dict)
    assert type(actual["key"]) is type(value)


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "off", "y", "1:30", "190:20:30", "2026-07-05", "1_000", "0b11", "tRUE", "=", "1e", "0o8",
     "-0x1"],
)  # fmt: skip
def test_what_only_yaml_1_1_understands_stays_text(text: str) -> None:
    """Words, dates and base-sixty numbers of YAML 1.1 are plain text to us."""
    actual = read(f"key: {text}")

    assert actual == {"key": text}


def test_quoted_scalars_are_always_text() -> None:
    """Quotes and block scalars make text of anything; a key without a value has null."""
    assert read("a:\nb: []\n") == {"a": None, "b": []}
    actual = read("a: '1'\nb: \"true\"\nc: |\n  null\n\"<<\": '.nan'\n'1': x\n")

    assert actual == {"a": "1", "b": "true", "c": "null\n", "<<": ".nan", "1": "x"}


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.INF", "1e999", "-1e999"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    """Infinite numbers and NaN are refused with their place and value."""
    problem = the_problem(f"a:\n  b: [1, {text}]\n")

    assert (problem.row, problem.column, problem.value) == (2, "a.b.1", text)
    assert problem.message.startswith("numbers must be finite")


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775808", "0xFFFFFFFFFFFFFFFF", "9" * 60_000])
def test_integers_beyond_64_bits_are_refused(text: str) -> None:
    """An integer that no 64-bit column holds is refused, however many digits it has."""
    problem = the_problem(f"a: {text}")

    assert problem.message == "integers must be smaller than 2**63"


def test_a_byte_order_mark_is_tolerated() -> None:
    """A UTF-8 byte order mark, as Windows editors write it, is no part of the text."""
    actual = read(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")

    assert actual == {"a": 1, "b": 2}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_utf_16_is_refused_by_name(encoding: str) -> None:
    """UTF-16 and UTF-32 are refused with the advice to save as UTF-8."""
    problem = the_problem("a: 1".encode(encoding))

    assert problem.message == "the text is UTF-16 or UTF-32; save it as UTF-8"


def test_bytes_that_are_no_utf_8_are_refused_with_their_position() -> None:
    """A byte of another encoding is named with its line and its position in the file."""
    problem = the_problem(b"\xef\xbb\xbfa: 1\nb: caf\xe9\n")

    assert problem == Problem("byte 15 is not UTF-8", row=2, value="0xe9")


def test_a_nul_is_refused_with_its_position() -> None:
    """A NUL character is named with its line and its position."""
    problem = the_problem(b"a: 1\nb: \x00\n")

    assert (problem.row, problem.value) == (2, "U+0000")
    assert problem.message.startswith("character 9 is U+0000")


@pytest.mark.parametrize(("text", "column"), [('a: 1\nb: ["x\\0"]\n', "b.0"), ('a: 1\n"b\\u0000": 1\n', "b\\x00")])
def test_a_nul_that_is_written_as_an_escape_is_refused_with_its_line(text: str, column: str) -> None:
    """YAML allows it and a database stores none: a trial of a manifest would pass and the manifest fail."""
    problem = the_problem(text)

    assert (problem.row, problem.column) == (2, column)
    assert problem.message == "the text contains a zero character, which cannot be stored"


def test_text_over_the_limit_is_refused_before_it_is_read() -> None:
    """A text of one byte more than allowed is refused, one of exactly the limit is read."""
    fits = b"a: 1" + b" " * (KIB_64 - 4)

    assert read(fits) == {"a": 1}
    assert the_problem(fits + b" ").message == "the text has 65537 bytes; at most 65536 are allowed"


@pytest.mark.parametrize(
    ("text", "row", "column", "value", "message"),
    [
        ("a: 1\na: 2", 2, "a", "a", "the key occurs twice"),
        ('a:\n- {b: 1, "b": 2}', 2, "a.0.b", "b", "the key occurs twice"),
        ("a: &x 1", 1, "a", "&x", "anchors are not read; write the value out"),
        ("a: [1, *x]", 1, "a.1", "*x", "aliases are not read; write the value out"),
        ("a: !!str 1", 1, "a", "!!str", "tags are not read; delete it"),
        ("a: !!python/object:os.system {}", 1, "a", "!!python/object:os.system", "tags are not read; delete it"),
        ("a: ! 1", 1, "a", "!", "tags are not read; delete it"),
        ("a:\n  <<: {b: 1}", 2, "a.<<", "<<", "merge keys are not read; write the keys out"),
        ("1: x", 1, "1", "1", "a key must be text; put it in quotes"),
        (".nan: x", 1, ".nan", ".nan", "a key must be text; put it in quotes"),
        ("~: x", 1, "~", "~", "a key must be text; put it in quotes"),
        ("[a]: x", 1, None, None, "a key must be text, not a mapping or list"),
        ("? {a: 1}\n: x", 1, None, None, "a key must be text, not a mapping or list"),
        ("a: 1\n---\nb: 1", 2, None, None, "a second document begins here; only one is read"),
        ("", None, None, None, "there is no document: the text is empty or contains only comments"),
        ("# nothing", None, None, None, "there is no document: the text is empty or contains only comments"),
        ("a: 1\nb: c: d", 2, None, None, "not YAML: mapping values are not allowed in this context"),
        ("a: [1, 2", 1, None, None, "not YAML: did not find expected ',' or ']'"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(
    text: str, row: int | None, column: str | None, value: str | None, message: str
) -> None:
    """Each construct that is not data has its message, line, path and value."""
    problem = the_problem(text)

    assert problem == Problem(message, row=row, column=column, value=value)


def test_directives_are_refused() -> None:
    """A line that begins with % could declare tags, and is refused wherever it stands."""
    first, later = the_problem("%YAML 1.1\n---\na: 1"), the_problem("a: 1\n...\n%TAG ! x\n---\nb: 1")

    assert (first.row, later.row) == (1, 3)
    assert "directives are not read" in first.message


def test_all_problems_come_at_once() -> None:
    """Problems that do not depend on each other are reported together, in the order of the text."""
    rejected = refusal("a: &x 1\nb: *x\nb: 2\nc: !!int 3\n4: d\ne: {f: .inf, f: 1}\n")

    assert [(problem.row, problem.column) for problem in rejected.problems] == [
        (1, "a"),
        (2, "b"),
        (3, "b"),
        (4, "c"),
        (5, "4"),
        (6, "e.f"),
        (6, "e.f"),
    ]


def test_the_detail_names_the_input() -> None:
    """The detail of the error begins with the words that the caller gave for the input."""
    assert refusal("a: b: c").detail == "The test cannot be read as YAML."


def test_more_problems_than_an_answer_shows_are_counted() -> None:
    """All problems are counted, and only as many kept as an answer may show."""
    rejected = refusal("a:\n" * 3001)

    assert rejected.n_problems == 3000
    assert len(rejected.problems) == MAX_PROBLEMS


def test_twenty_levels_are_read() -> None:
    """Twenty levels of nesting are allowed."""
    actual = read("[" * 20 + "]" * 20)

    assert str(actual) == "[" * 20 + "]" * 20


@pytest.mark.parametrize(
    "text",
    ["[" * 21 + "]" * 21, "[" * 20_000, "a: " + "[" * 20_000, "- " * 32_000, "{a: " * 16_000],
    ids=["one too many", "brackets", "brackets below a key", "dashes", "braces"],
)
def test_deeper_nesting_stops_the_reading(text: str) -> None:
    """The first level too many is the one problem: what follows is never looked at."""
    problem = the_problem(text)

    assert problem.message == "nested deeper than 20 levels"


def test_what_follows_the_limit_is_never_looked_at() -> None:
    """Reading stops at the level too many: a syntax error and an alias after it are not found."""
    problem = the_problem("a: " + "[" * 20 + "\n*alias }: @")

    assert problem.message == "nested deeper than 20 levels"


def test_a_bomb_of_aliases_is_refused_unexpanded() -> None:
    """The billion laughs are as many problems as they have anchors and aliases, and no value."""
    laughs = ["a: &a [x,x]"] + [f"{b}: &{b} [*{a},*{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]

    assert refusal("\n".join(laughs)).n_problems == 9 + 2 * 8


def test_keys_of_any_length_are_shown_short() -> None:
    """A path with long keys is clipped, so that problems do not multiply a long text."""
    rejected = refusal("? " + "k" * 60_000 + "\n: [" + "*a, " * 1000 + "]")

    assert rejected.n_problems == 1000
    assert max(len(problem.column or "") for problem in rejected.problems) < 70


def test_a_document_knows_the_lines_of_its_values() -> None:
    """A value's line is found by its path; a value that is not there has the line of what is around it."""
    document = read_document(b"# x\na: 1\nb:\n- c: 2\n  d: 3\n- e\n", max_bytes=100, what="The test")

    assert [document.line(path) for path in [(), ("a",), ("b", 0, "d"), ("b", 1), ("b", 0, "missing")]] == [
        2,
        2,
        5,
        6,
        4,
    ]


@pytest.mark.parametrize("path", CHAMBER_FILES, ids=lambda path: path.name)
def test_the_given_preregistrations_are_read(path: Path) -> None:
    """Every real preregistration has the values that PyYAML finds, but for dates and floats of YAML 1.1."""
    actual = read(path.read_bytes())

    assert as_core(yaml.safe_load(path.read_bytes())) == actual


def as_core(value: object) -> object:
    """Turn what YAML 1.1 made of a document into what the core schema makes of it."""
    if isinstance(value, dict):
        return {key: as_core(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_core(inner) for inner in value]
    if value == "3.75e4":
        return 37500.0
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def test_mutated_files_are_read_or_rejected() -> None:
    """Random damage to real files never raises anything but Rejected."""
    rng = random.Random(20260705)
    originals = [path.read_bytes() for path in CHAMBER_FILES]
    refusals = [damage_report(damage(rng.choice(originals), rng)) for _ in range(600)]

    assert sum(n_problems > 0 for n_problems in refusals) > 100


def damage_report(mutated: bytes) -> int:
    """Return the number of problems of a text, 0 when it was read after all."""
    try:
        read(mutated)
    except Rejected as rejected:
        return len(rejected.problems)
    return 0


def damage(original: bytes, rng: random.Random) -> bytes:
    """Replace, delete, insert or repeat a few bytes, preferring those that mean something in YAML."""
    mutated = bytearray(original)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(mutated))
        piece = rng.choice(
            [b"[", b"{", b"&a ", b"*a", b"!", b"%", b"\t", b"\x00", b"- ", b"? ", b": ", b'"', b"'", b"\xff"]
        )
        kind = rng.randrange(4)
        if kind == 0:
            mutated[at] = rng.randrange(256)
        elif kind == 1:
            del mutated[at : at + rng.randint(1, 40)]
        elif kind == 2:
            mutated[at:at] = piece * rng.choice([1, 1, 1, 30])
        else:
            mutated[at:at] = mutated[at : at + rng.randint(1, 200)]
    return bytes(mutated)
