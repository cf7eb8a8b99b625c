"""Exploring a board over HTTP: filters keep ranks, choices have it computed anew, and everything is in the address."""

import csv
import io
import re

import pytest

from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import Site

TINY = "/benchmarks/tiny/leaderboards/average"
EXPLORE = f"{TINY}/explore"
GREAT = b"model,task,MASE\nGreat,t1,0.0\nGreat,t2,9.0\nGreat,t3,9.0\n"
CHOICE = "task=t1&entrant=Base&entrant=Great"


@pytest.fixture(scope="module")
def published(shared_site: Site) -> Site:
    """A site with three entrants on three tasks; in its second snapshot Good has newer numbers on two of them."""
    declare(shared_site)
    for rows in (BASE, GOOD, GREAT):
        assert send(shared_site, rows)["http"] == 202
    shared_site.work()
    send(shared_site, BETTER)
    shared_site.work()
    return shared_site


def ranks(site: Site, address: str) -> dict[str, str]:
    """Return the ranks of a CSV by entrant."""
    answer = site.http.get(address)
    assert answer.status_code == 200, answer.text
    return {row["entrant"]: row["rank"] for row in csv.DictReader(io.StringIO(answer.text))}


def test_the_list_of_entrants_says_that_nothing_describes_them(published: Site) -> None:
    """How many there are, and which key of the manifest would change it."""
    notes = published.http.get("/benchmarks/tiny/entrants.json").json()["notes"]

    assert notes == ["3 entrants. The manifest declares no fields that describe them (entrant_fields)."]


def test_a_filter_hides_rows_and_keeps_ranks(published: Site) -> None:
    """Great is last of three over all tasks, and stays third when it is looked for."""
    before = ranks(published, f"{TINY}.csv?snapshot=1")

    assert ranks(published, f"{EXPLORE}.csv?snapshot=1&q=gREA") == {"Great": before["Great"]} == {"Great": "3"}


def test_the_page_of_a_filter_speaks_of_no_board_of_these_rows(published: Site) -> None:
    """Who may be first is not said of some rows alone; of a choice that is filtered too both notes stand on top."""
    filtered = published.http.get(f"{EXPLORE}?snapshot=1&q=goo", headers={"accept": "text/html"}).text
    both = published.http.get(f"{EXPLORE}?snapshot=1&q=goo&task=t1", headers={"accept": "text/html"}).text

    assert "1 of 3 entrants shown" in filtered
    assert "First: " not in filtered
    assert '<p class="alert">Your selection' in both
    assert both.count("not an official board") == 1 + both.count('content="Your selection')


def test_ranking_among_the_found_is_a_new_board(published: Site) -> None:
    """The same text, and ranks from 1 on; every row says that it is a reader's choice."""
    answer = published.http.get(f"{EXPLORE}.json?snapshot=1&q=G&among=matching").json()

    assert [(row["entrant"], row["rank"]) for row in answer["rows"]] == [("Good", 1), ("Great", 2)]
    assert answer["meta"]["choice"]["label"] in answer["notes"][0]
    assert {row["choice"] for row in answer["rows"]} == {"2 of 3 entrants (“G” in the name)"}


def test_whom_scores_are_relative_to_is_not_ranked_among_the_found(published: Site) -> None:
    """Its name has not the text that was looked for: it has its part in every score, and no row."""
    answer = published.http.get(
        "/benchmarks/tiny/leaderboards/skill/explore.json?snapshot=1&q=Goo&among=matching"
    ).json()

    assert [row["entrant"] for row in answer["rows"]] == ["Good"]
    assert "(“Goo” in the name, computed beside Base, not ranked here)" in answer["notes"][0]


@pytest.mark.parametrize(
    ("board", "searched"), [("average", "&q=G&among=matching"), ("skill", ""), ("skill", "&q=zzz&among=matching")]
)
def test_who_is_named_is_who_is_ranked(published: Site, board: str, searched: str) -> None:
    """Whatever was searched for before: neither the others that were found nor the baseline, although it is needed."""
    address = f"/benchmarks/tiny/leaderboards/{board}/explore.json?snapshot=1&entrant=Good"
    one, two = (published.http.get(f"{address}{more}{searched}").json() for more in ("", "&entrant=Great"))

    assert [(row["entrant"], row["rank"]) for row in one["rows"]] == [("Good", 1)]
    assert {row["entrant"] for row in two["rows"]} == {"Good", "Great"}
    assert {row["rank"] for row in two["rows"] if row["rank"] is not None} == {1, 2}
    assert "2 of 3 entrants (2 named" in two["notes"][0]
    assert ("computed beside Base, not ranked here" in two["notes"][0]) == (board == "skill")


def test_a_choice_of_task_and_entrants_is_ranked_on_it(published: Site) -> None:
    """On the first task alone Great is best."""
    assert ranks(published, f"{EXPLORE}.csv?{CHOICE}") == {"Great": "1", "Base": "2"}


def test_the_page_of_a_choice_says_so_and_has_its_link(published: Site) -> None:
    """Without scripts: a form, ticked as asked, and the addresses of the same choice as data and for ever."""
    page = published.http.get(f"{EXPLORE}?{CHOICE}", headers={"accept": "text/html"}).text

    assert "a reader&#39;s choice" in page
    assert page.partition("<body")[2].count("Your selection, not an official board") == 1
    assert f"{EXPLORE}?snapshot=2&amp;task=t1" in page
    assert f"{EXPLORE}.csv?task=t1" in page
    assert page.count(" checked>") == 3
    assert [tag for tag in re.findall("<script[^>]*>", page) if 'src="/static/' not in tag] == []


@pytest.mark.parametrize("snapshot", [1, 2])
def test_a_choice_of_everything_gives_the_numbers_of_its_snapshot(published: Site, snapshot: int) -> None:
    """Also of one whose tasks were taken over later: what counted then is what is computed from."""
    stored = published.http.get(f"{TINY}.json?snapshot={snapshot}").json()["rows"]
    every = published.http.get(f"{EXPLORE}.json?snapshot={snapshot}&task=t1&task=t2&task=t3").json()["rows"]
    shared = every[0].keys() & stored[0].keys()

    assert {"rank", "mean_MASE", "rank_low", "covered"} <= shared
    assert [{k: row[k] for k in shared} for row in every] == [{k: row[k] for k in shared} for row in stored]


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("entrant=Nobody", "entrant"),
        ("weight=t1", "weight"),
        ("weight=t1=nan", "weight"),
        ("weight=t1=-1", "weight"),
        ("weight=t1=1e9", "weight"),
        ("baseline=Good", "baseline"),
        ("group=t1", "group"),
        ("among=all", "among"),
        ("entrants=Base", "entrants"),
    ],
)
def test_what_is_not_understood_is_refused(published: Site, query: str, column: str) -> None:
    """With the field that says it."""
    answer = published.http.get(f"{EXPLORE}.json?{query}")

    assert answer.status_code == 422
    assert {problem["column"].split(".")[-1] for problem in answer.json()["problems"]} == {column}


def test_more_names_than_anyone_chooses_are_refused(published: Site) -> None:
    """An address has its limits, and says which."""
    query = "&".join(f"entrant=e{at}" for at in range(501))

    assert published.http.get(f"{EXPLORE}.json?{query}").status_code == 422


def test_a_choice_that_cannot_be_computed_says_why(published: Site) -> None:
    """Nothing is relative to an error of 0: no rows, and the reason beside the label."""
    answer = published.http.get("/benchmarks/tiny/leaderboards/skill/explore.json?baseline=Great&task=t1").json()

    assert answer["rows"] == []
    assert "Your selection, not an official board" in answer["notes"][0]
    assert "Great" in answer["notes"][0]


def test_nothing_can_be_explored_before_there_is_a_snapshot(site: Site) -> None:
    """It is not found, and says that nothing is published."""
    declare(site)
    answer = site.http.get(EXPLORE, headers={"accept": "text/html"})

    assert (answer.status_code, "Nothing of tiny is published yet" in answer.text) == (404, True)


def test_a_reader_chooses_columns(published: Site) -> None:
    """Of the page and of its data; one that there is not is refused."""
    chosen = published.http.get(f"{TINY}.csv?column=entrant&column=rank").text.splitlines()[0]
    page = published.http.get(f"{TINY}?column=entrant", headers={"accept": "text/html"}).text

    assert chosen == "rank,entrant"
    # A row without its rank, name and score says nothing of anybody, and its bars are part of these.
    assert 'class="board' in page or 'class="ranks"' in page
    assert re.findall(r'id="sort-[^"]*"[^>]*>([^<]+)', page)[:2] == ["Rank", "Entrant"]
    assert "P(best)" not in page
    assert published.http.get(f"{TINY}.csv?column=price").status_code == 422


def test_the_menu_of_columns_has_ticks_at_what_is_shown(published: Site) -> None:
    """One more is added to what is there; the menu has its own button, what each means, and leads to all columns."""
    usual = published.http.get(EXPLORE, headers={"accept": "text/html"}).text
    ticked = re.findall(r'name="column" value="([^"]+)" checked', usual)
    more = "&".join(f"column={name}" for name in (*ticked, "n_attempted"))
    wider = published.http.get(f"{EXPLORE}?sort=rank&{more}", headers={"accept": "text/html"}).text

    assert ticked
    assert re.findall(r'name="column" value="([^"]+)" checked', wider) == [*ticked, "n_attempted"]
    assert '<input type="hidden" name="sort" value="rank">' in wider
    assert 'title="Results that the benchmark asks for: N of “n of N”."' in usual
    assert "Choose the columns to show." in usual
    assert usual.count(">All columns</a>") == 2
    assert "Attempted</a>" in wider
    assert wider.count('<td class="bar">') == usual.count('<td class="bar">')


def test_weights_are_one_link_away_where_a_board_has_some(published: Site) -> None:
    """A board without any has neither the link nor the word in its menu."""
    skill = "/benchmarks/tiny/leaderboards/skill"
    pages = {address: published.http.get(address, headers={"accept": "text/html"}).text
             for address in (TINY, EXPLORE, skill, f"{skill}/explore")}  # fmt: skip

    assert f'href="{EXPLORE}#weights"' in pages[TINY]
    assert 'id="weights"' in pages[EXPLORE]
    assert "Tasks, weights</summary>" in pages[EXPLORE]
    assert "#weights" not in pages[skill]
    assert "Tasks</summary>" in pages[f"{skill}/explore"]


def test_the_shown_are_ticked_where_some_stand_side_by_side(published: Site) -> None:
    """Also the first ones, whom nobody asked for; then there is nothing to reset."""
    for query, shown, has_reset in (("", ["Good", "Base", "Great"], False), ("?entrant=Base&entrant=Good", None, True)):
        page = published.http.get(f"{TINY}/compare{query}", headers={"accept": "text/html"}).text
        ticked = re.findall(r'name="entrant"\s+value="([^"]+)" checked', page)
        assert sorted(ticked) == sorted(shown or ["Base", "Good"])
        assert ('id="choose-all"' in page) is has_reset
