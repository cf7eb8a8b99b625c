"""Names that look like another entrant's, by letters of other alphabets; names that are the same are none."""

from pathlib import Path

import pytest

from app.admission.forensics import lookalike_findings

DATA = Path(__file__).parents[1] / "data"
CYRILLIC = "GP\N{CYRILLIC CAPITAL LETTER TE}-4"
TAT = "\N{CYRILLIC CAPITAL LETTER TE}\N{CYRILLIC CAPITAL LETTER A}\N{CYRILLIC CAPITAL LETTER TE}-4"


@pytest.mark.parametrize(
    ("name", "other", "is_flagged"),
    [
        (CYRILLIC, "GPT-4", True),
        ("GPT-4", CYRILLIC, True),
        ("gpt-4", CYRILLIC, True),
        ("GPT-4", "GPT-4", False),
        ("gpt-4", "GPT-4", False),
        ("GPT-l", "GPT-1", False),
        ("GPT\N{EM DASH}4", "GPT-4", True),
        ("GPT\N{EN DASH}4", "GPT\N{HORIZONTAL BAR}4", True),
        ("GPT\N{KATAKANA-HIRAGANA PROLONGED SOUND MARK}4", "GPT\N{EM DASH}4", True),
        ("GPT-4\N{MIDDLE DOT}1", "GPT-4.1", True),
        ("GPT-4\N{BULLET}1", "GPT-4.1", True),
        ("GPT-4.", "GPT-4", True),
        ("'GPT-4'", "GPT-4", True),
        ("ɢᴘᴛ-4", "GPT-4", True),
        ("GPŦ-4", "GPT-4", True),
        ("GPT\N{COMBINING DOT BELOW}-4", "GPT-4", True),
        ("GPT-\N{DINGBAT NEGATIVE CIRCLED DIGIT FOUR}", "GPT-4", True),
        ("GPT-4*", "GPT-4", False),
        ("C++", "C", False),
        ("GPT-4 1", "GPT-4-1", False),
        ("\N{DEVANAGARI LETTER KA}\N{DEVANAGARI VOWEL SIGN U}", "\N{DEVANAGARI LETTER KA}", False),
        ("...", ".", False),
    ],
)
def test_a_name_is_flagged_that_looks_like_another_one(name: str, other: str, *, is_flagged: bool) -> None:
    """Whichever came first, and in any case of its letters. The same name in another case is the same entrant.

    A plain name is itself, and who came before it in letters from elsewhere casts no doubt on it.
    """
    flagged = [finding.entrant for finding in lookalike_findings([name], [other])]
    after = [finding.entrant for finding in lookalike_findings([other], [name])]
    at_once = [finding.entrant for finding in lookalike_findings([other, name], [])]

    assert flagged == [name] * (is_flagged and (other.isascii() or not name.isascii()))
    if other.isascii() and not name.isascii():
        assert (after, at_once) == ([], flagged)


@pytest.mark.parametrize(
    ("names", "other", "entrant", "words"),
    [
        ([CYRILLIC, "GPT-4"], [], CYRILLIC, "U+0422 CYRILLIC CAPITAL LETTER TE"),
        ([TAT], ["TAT-4"], TAT, f"{TAT[0]} is U+0422 CYRILLIC CAPITAL LETTER TE, {TAT[1]} is U+0410 CYRILLIC CAPITAL"),
        (["GPT-4."], ["GPT-4"], "GPT-4.", "(they differ by a small mark at an end)"),
    ],
)
def test_the_letters_that_differ_are_named_once_each(
    names: list[str], other: list[str], entrant: str, words: str
) -> None:
    """A reader sees which ones, in the order of the name, since the eye does not."""
    (finding,) = lookalike_findings(names, other)

    assert (finding.entrant, words in finding.sentence) == (entrant, True)


def test_letters_that_look_like_no_plain_one_are_not_named() -> None:
    """A name may be written in Chinese; what a reader has to know is which of its letters is not what it looks like."""
    name, other = f"\u6587\u5fc3-{CYRILLIC}", "\u6587\u5fc3-GPT-4"
    (finding,) = lookalike_findings([name], [other])

    assert finding.sentence == (
        f"{name} looks like {other}, another entrant of this benchmark "
        f"({CYRILLIC[2]} is U+0422 CYRILLIC CAPITAL LETTER TE)"
    )


def test_real_names_are_not_taken_for_each_other() -> None:
    """The 324 models of a public benchmark differ in single letters, digits and hyphens, and all of them are meant."""
    names = (DATA / "mteb" / "models.txt").read_text("utf-8").splitlines()

    assert len(names) > 300
    assert [finding.sentence for finding in lookalike_findings(names, [])] == []
