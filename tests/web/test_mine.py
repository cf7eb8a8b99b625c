"""Whoever holds a token sees what was sent with it, and takes it back from the command line."""

from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site


def test_a_token_lists_its_own_submissions_and_nobody_elses(roomy_site: Site) -> None:
    """The newest first, with whom they brought."""
    declare(roomy_site)
    send(roomy_site, BASE)
    send(roomy_site, GOOD, who="bob")
    listed = roomy_site.http.get("/whoami/submissions", headers=roomy_site.auth()).json()

    assert [(each["benchmark"], each["entrants"], each["n_rows"]) for each in listed] == [("tiny", ["Base"], 3)]


def test_nobody_lists_submissions_without_a_token(roomy_site: Site) -> None:
    """What was sent by whom is for who sent it."""
    assert roomy_site.http.get("/whoami/submissions").status_code == 401


def test_a_benchmark_narrows_the_list(roomy_site: Site) -> None:
    """Another one's are left out."""
    declare(roomy_site)
    send(roomy_site, BASE)
    answer = roomy_site.http.get("/whoami/submissions", params={"benchmark": "other"}, headers=roomy_site.auth())

    assert answer.json() == []
