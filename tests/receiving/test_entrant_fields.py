"""Files and model cards that say what entrants are: what is taken of them, and every problem with its place."""

from pathlib import Path
from typing import Any

import pytest

from app.errors import MAX_PROBLEMS, FieldRejected, Problem
from app.files.uploads import ReceivedFile
from app.manifest.model import EntrantField
from app.receiving.entrant_fields import read_card, read_file

FIELDS = [EntrantField(name="size", type="integer"), EntrantField(name="licence", type="text")]
KNOWN = ("Good", "Base", "Great")
ALLOWED = "expected a whole number, such as 7000000000"
MISSING = "the name of an entrant is missing"
NOBODY = "no entrant of this benchmark has this name"
ONCE = "one is there once something was submitted for it"


def read(folder: Path, content: str | bytes, name: str = "f.csv") -> dict[str, dict[str, Any]]:
    """Read a file as it is sent."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(ReceivedFile(name, path, path.suffix, 0), FIELDS, KNOWN)


def refused(folder: Path, content: str | bytes, name: str = "f.csv") -> FieldRejected:
    """Return the refusal of a file."""
    with pytest.raises(FieldRejected) as refusal:
        read(folder, content, name)
    return refusal.value


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("f.csv", "entrant,size,licence\nGood,7e9,\nBase,,mit\nGreat,,\n",
         {"Good": {"size": 7_000_000_000}, "Base": {"licence": "mit"}, "Great": {}}),
        ("f.jsonl", '{"entrant": "Good", "size": null}\n{"entrant": "Base", "licence": ""}\n',
         {"Good": {"size": None}, "Base": {"licence": None}}),
        ("f.json", '[{"entrant": "Good", "size": 3, "licence": "mit"}]', {"Good": {"size": 3, "licence": "mit"}}),
    ],
)  # fmt: skip
def test_an_empty_cell_says_nothing_and_null_takes_back(
    tmp_path: Path, name: str, content: str, values: dict[str, Any]
) -> None:
    """Of each format, read as what its name says that it is."""
    assert read(tmp_path, content, name) == values


PROBLEMS: dict[str, tuple[str, str, list[Problem]]] = {
    "each with its row and value": (
        "f.csv", "entrant,size\nGood,many\nGood,1\n,2\n",
        [Problem(ALLOWED, "f.csv", 2, "size", "many"),
         Problem("this entrant has an earlier row in the file", "f.csv", 3, "entrant", "Good"),
         Problem(MISSING, "f.csv", 4, "entrant", None)]),
    "what was meant is told of the first five": (
        "f.csv", "entrant\n" + "".join(f"Good{at}\n" for at in range(6)),
        [Problem(f"{NOBODY}{'; did you mean Good?' if at < 5 else ''}; {ONCE}", "f.csv", at + 2, "entrant", f"Good{at}")
         for at in range(6)]),
    "a name like no other": (
        "f.csv", "entrant\nqqqqqq\n", [Problem(f"{NOBODY}; {ONCE}", "f.csv", 2, "entrant", "qqqqqq")]),
    "an unknown column once": (
        "f.csv", "entrant,colour\nGood,red\nBase,blue\n",
        [Problem("no field of this benchmark; it has size, licence", "f.csv", 2, "colour")]),
    "no column of names, and one that is nearly it": (
        "f.csv", "entrants,size\nGood,1\n",
        [Problem("the column with the names of entrants is missing; is it entrants?", "f.csv", 1, "entrant")]),
    "no column of names": (
        "f.csv", "zzz,size\nGood,1\n",
        [Problem("the column with the names of entrants is missing", "f.csv", 1, "entrant")]),
    "a name that is a number": (
        "f.json", '[{"entrant": 3}, 4, {"size": 1}]',
        [Problem(MISSING, "f.json", 1, "entrant", "3"),
         Problem("", "f.json", 2, value="4"), Problem(MISSING, "f.json", 3, "entrant")]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_of_a_file_is_told_where_it_is(tmp_path: Path, name: str) -> None:
    """With the value, and what is allowed or was meant."""
    file, content, problems = PROBLEMS[name]
    told = refused(tmp_path, content, file).problems

    assert [(each.file, each.row, each.column, each.value) for each in told] == [
        (each.file, each.row, each.column, each.value) for each in problems
    ]
    assert [one.message for one, each in zip(told, problems, strict=True) if each.message] == [
        each.message for each in problems if each.message
    ]


def test_a_file_with_many_problems_says_how_many(tmp_path: Path) -> None:
    """And lists the first of them."""
    n = MAX_PROBLEMS + 1
    refusal = refused(tmp_path, "entrant\n" + "".join(f"N{at}\n" for at in range(n)))

    assert refusal.detail == f"The file has {n:,} problems; nothing was stored."
    assert (len(refusal.problems), refusal.n_problems) == (MAX_PROBLEMS, n)
    assert refused(tmp_path, "entrant\nN\n").detail == "The file has 1 problem; nothing was stored."


CARDS: dict[str, tuple[bytes, dict[str, Any], list[str]]] = {
    "by its own name or that of cards": (
        b"---\nlicense: mit\nsize: 3\n---\n# text\n---\nsize: 4\n---\n",
        {"licence": "mit", "size": 3},
        [],
    ),
    "whatever it has beside": (b"---\ntags: [a]\nsize: 3\nname:\n---\n", {"size": 3}, ["tags", "name"]),
    "the licence that is called other": (
        b"---\nlicense: Other\nlicense_name: ours\n---\n",
        {"licence": "ours"},
        ["license"],
    ),
    "another name of a licence that has one": (
        b"---\nlicense: mit\nlicense_name: ours\n---\n",
        {"licence": "mit"},
        ["license_name"],
    ),
    "a licence of no name": (b"---\nlicense: other\n---\n", {"licence": "other"}, []),
    "what is nothing": (b"---\nsize: null\nlicense: mit\n---\n", {"licence": "mit"}, ["size"]),
    "with marks and spaces of an editor": (
        b"\xef\xbb\xbf--- \r\nlicense: mit\r\n---\t\r\n# text\r\n",
        {"licence": "mit"},
        [],
    ),
}


@pytest.mark.parametrize("name", CARDS)
def test_of_a_card_its_front_matter_is_taken(name: str) -> None:
    """Up to the second line of hyphens; the keys that are no fields are told."""
    card, values, beside = CARDS[name]

    assert read_card(card, FIELDS) == (values, beside)


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        (b"", Problem("a model card begins with --- on a line of its own, YAML, and --- on a line of its own", row=1)),
        (b"# text\n---\nsize: 3\n---\n", Problem("", row=1)),
        (b"---\nsize: 3\n", Problem("", row=1)),
        (b"---\n- a\n---\n", Problem("expected lines such as license: mit", row=2)),
        (b"---\n\nlicense: mit\nsize: lots\n---\n", Problem(ALLOWED, row=4, column="size", value="lots")),
        (b"---\nlicense: other\nlicense_name: [a]\n---\n",
         Problem("expected text of at most 500 characters", row=3, column="license_name", value="['a']")),
    ],
    ids=["nothing", "no first line", "no second line", "a list", "a value", "the name of a licence"],
)  # fmt: skip
def test_a_card_is_refused_with_the_line_and_the_key_that_it_has(card: bytes, problem: Problem) -> None:
    """As the card calls it, not as the benchmark does."""
    with pytest.raises(FieldRejected) as refusal:
        read_card(card, FIELDS)
    (told,) = refusal.value.problems

    assert (told.row, told.column, told.value) == (problem.row, problem.column, problem.value)
    assert problem.message in told.message
