"""/submissions/{id}: its page asks again while something happens by itself, and then no more."""

from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site

ASKS = 'hx-get="/submissions/1"', 'hx-trigger="every 2s"', '<meta http-equiv="refresh" content="2">'


def test_the_page_asks_again_until_it_is_settled(site: Site) -> None:
    """With scripts and without."""
    declare(site)
    send(site, BASE)
    waiting = site.http.get("/submissions/1").text
    site.work()
    settled = site.http.get("/submissions/1").text

    assert [text in waiting for text in ASKS] == [True, True, True]
    assert [text in settled for text in ASKS] == [False, False, False]
    assert site.http.get("/submissions/1.json").json()["waiting_for"] is None
