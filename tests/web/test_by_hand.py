"""What programs do over HTTP, done by the forms of a browser: each is answered with the same sentence, and keeps what
was typed.
"""

import html
import re

import httpx2

from tests.cases.signing_in import signed
from tests.cases.walkthrough import BASE, PREREG, declare
from tests.fixtures import Site

FORM = "/register/tiny"
OTHER = PREREG + b"entrants: [Mine]\n"
PAGE = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


def actions(shown: str) -> list[str]:
    """Return where the forms of a page and their buttons lead, as a browser reads them."""
    return [html.unescape(each) for each in re.findall(r'(?:form)?action="([^"]*csrf=[^"]*)"', shown)]


def sent(
    site: Site, address: str, headers: dict[str, str], *, file: bytes | None = None, **fields: str
) -> httpx2.Response:
    """Send a form with a field for a file, as a browser does: with nothing chosen its name is empty."""
    files = [("yaml_file", ("" if file is None else "p.yaml", file or b"", "application/octet-stream"))]
    answer: httpx2.Response = site.http.post(
        address, data=fields, files=files, headers={**headers, **PAGE}, follow_redirects=False
    )
    return answer


def test_who_registers_in_a_browser_goes_on_to_submit_with_it_chosen(site: Site) -> None:
    """Checked first, which stores nothing, then registered by the same bytes, then submitted under it."""
    declare(site)
    alice = signed(site, "alice")
    shown = site.http.get(FORM, headers={**alice, **PAGE}).text
    register, check = actions(shown)[:2]
    checked = sent(site, check, alice, yaml=OTHER.decode().replace("\n", "\r\n"))
    known = site.http.get("/benchmarks/tiny/registrations.json").json()["rows"]
    registered = sent(site, register, alice, yaml=OTHER.decode().replace("\n", "\r\n"))
    address = registered.headers["location"]
    submit = site.http.get(address, headers={**alice, **PAGE}).text

    assert (checked.status_code, len(known)) == (200, 1)
    assert "nothing is stored yet" in checked.text
    assert "entrants: [Mine]" in checked.text
    assert registered.status_code == 303
    assert site.http.get(f"/preregs/{address.partition('=')[2]}.yaml").content == OTHER
    assert f'value="{address.partition("=")[2]}" selected' in submit


def test_a_refused_registration_keeps_the_text_and_has_the_sentence_of_the_api(site: Site) -> None:
    """Whether it was typed or in a file, and in a session that lost its key."""
    declare(site)
    alice = signed(site, "alice")
    register = actions(site.http.get(FORM, headers={**alice, **PAGE}).text)[0]
    wrong = b"benchmark: tiny\nmetrics: [MASE]\ntasks: [t1, t1]\nseeed: [1]\n"
    said = site.http.post("/preregs?benchmark=tiny", content=wrong, headers=site.auth()).json()
    typed = sent(site, register, alice, yaml=wrong.decode())
    dropped = sent(site, register, alice, yaml="", file=wrong)
    forged = sent(site, re.sub(r"csrf=\w+", "csrf=0", register), alice, yaml=wrong.decode())

    assert (typed.status_code, dropped.status_code, forged.status_code) == (422, 422, 403)
    for answer in (typed, dropped):
        assert html.escape(said["problems"][0]["message"]) in answer.text
        assert "seeed: [1]" in answer.text
    assert "seeed: [1]" in forged.text


def test_what_the_benchmark_does_not_have_is_said_before_and_after_it_is_registered(site: Site) -> None:
    """A task that is not there is a warning of the check, and of the page that submits."""
    declare(site)
    alice = signed(site, "alice")
    register, check = actions(site.http.get(FORM, headers={**alice, **PAGE}).text)[:2]
    unknown = "benchmark: tiny\nmetrics: [MASE]\ntasks: [t9]\n"
    checked = sent(site, check, alice, yaml=unknown)
    submit = site.http.get(sent(site, register, alice, yaml=unknown).headers["location"], headers={**alice, **PAGE})

    assert "t9" in re.sub(r"<textarea.*?</textarea>", "", checked.text, flags=re.S)
    assert "t9" in submit.text


def test_a_stranger_is_led_to_the_login_and_who_may_not_submit_is_refused(site: Site) -> None:
    """As with submitting; and nothing is registered with the key of nobody."""
    declare(site)
    answer = site.http.get(FORM, follow_redirects=False)
    nobody = sent(site, f"/preregs?benchmark=tiny&then=/submit/tiny&csrf={'0' * 64}", {}, yaml=BASE.decode())

    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={FORM}")
    assert nobody.status_code == 401
