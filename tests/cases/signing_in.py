"""Somebody signs in to the app of a test as a browser does, and sends its forms."""

import re
from typing import Any

import httpx2

from tests.fixtures import Site

SESSION, FORM = "__Host-plumbline", "__Host-plumbline-form"


def cookie(answer: httpx2.Response, name: str) -> str:
    """Return the cookie that an answer sets."""
    for line in answer.headers.get_list("set-cookie"):
        if line.startswith(f"{name}="):
            return line.partition(";")[0]
    raise AssertionError(answer.headers)


def login(site: Site, who: str = "steward", cookies: str = "", **changed: Any) -> httpx2.Response:
    """Fill in the form and send it."""
    shown = site.http.get("/login")
    value = re.search(r'name="form" value="([^"]+)"', shown.text)
    assert value is not None
    fields = {"form": value[1], "token": site.tokens[who], **changed}
    headers = {"Cookie": f"{cookie(shown, FORM)}; {cookies}"}
    answer: httpx2.Response = site.http.post("/login", data=fields, headers=headers, follow_redirects=False)
    return answer


def signed(site: Site, who: str = "steward") -> dict[str, str]:
    """Sign in and return the header of the session."""
    return {"Cookie": cookie(login(site, who), SESSION)}


def form_key(site: Site, headers: dict[str, str]) -> str:
    """Return what the forms of a session carry."""
    match = re.search(r"csrf=([0-9a-f]{64})", site.http.get("/account", headers=headers).text)
    assert match is not None
    return match[1]


def send_form(site: Site, path: str, headers: dict[str, str], then: str = "/account", **fields: Any) -> httpx2.Response:
    """Send a form of a session as a browser does; `method` in the path is the one that it asks for."""
    joined = "&" if "?" in path else "?"
    address = f"{path}{joined}then={then}&csrf={form_key(site, headers)}"
    sent = {**headers, "Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
    answer: httpx2.Response = site.http.post(address, data=fields, headers=sent, follow_redirects=False)
    return answer
