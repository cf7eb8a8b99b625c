"""What another site tries with somebody's browser, in a real one: writing in their session, framing, leading away."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import url_contains, url_to_be
from selenium.webdriver.support.ui import WebDriverWait

from tests.cases import patient
from tests.cases.browser import browser
from tests.cases.processes import admin, server
from tests.cases.running_server import RunningServer

__all__ = ["browser", "server"]
pytestmark = pytest.mark.browser


@contextmanager
def another_site(page: str) -> Iterator[str]:
    """Serve a page from another host, as the name localhost is to a browser, and yield its address."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://localhost:{serving.server_port}"
        serving.shutdown()


def sign_in(driver: Chrome, at: RunningServer, leads_to: str = "/account") -> None:
    """Fill in the form as an admin."""
    driver.delete_all_cookies()
    submit_login(driver, at, leads_to)


def submit_login(driver: Chrome, at: RunningServer, leads_to: str = "/account") -> None:
    """Fill in the form as an admin, with the cookies the browser has, and wait for where it leads."""
    driver.get(f"{at.address}/login?next={leads_to}")
    driver.find_element(By.NAME, "token").send_keys(admin(at)["Authorization"].removeprefix("Bearer "))
    driver.find_element(By.CSS_SELECTOR, "main button").click()
    WebDriverWait(driver, 30).until(url_to_be(f"{at.address}/account"))


def test_somebody_signs_in_and_out(server: RunningServer, browser: Chrome) -> None:
    """The browser keeps the cookie, without a word in its console; afterwards the account asks for a login."""
    sign_in(browser, server)
    signed_in = browser.find_element(By.TAG_NAME, "h1").text
    cookie = browser.get_cookie("__Host-plumbline")
    browser.find_element(By.CSS_SELECTOR, "form[action^='/logout?'] button").click()
    WebDriverWait(browser, 30).until(url_to_be(f"{server.address}/login"))
    browser.get(f"{server.address}/account")

    assert signed_in == "admin"
    assert cookie is not None
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Lax")
    assert browser.find_element(By.TAG_NAME, "h1").text == "Sign in"


def test_nobodys_word_on_where_they_are_is_believed(server: RunningServer) -> None:
    """Without proxies of ours, also of somebody on this machine: else one reader would be as many as they like."""
    wrong = {"Authorization": "Bearer plb_wrong", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    patient.delete(f"{server.address}/tokens/1", headers=wrong)
    query = {"outcome": "refused", "action": "DELETE /tokens"}
    listed = patient.get(f"{server.address}/audit.json", params=query, headers=admin(server)).json()["rows"]

    assert [row["address"] for row in listed] == ["127.0.0.1"]


def test_another_site_signs_nobody_out(server: RunningServer, browser: Chrome) -> None:
    """A form that it sends by itself comes without the cookie, and without the key."""
    sign_in(browser, server)
    forged = f"<form method=post action='{server.address}/logout/everywhere'></form><script>forms[0].submit()</script>"
    with another_site(forged.replace("forms", "document.forms")) as address:
        browser.get(address)
        WebDriverWait(browser, 30).until(url_contains("/logout/everywhere"))
    browser.get(f"{server.address}/account")

    assert browser.find_element(By.TAG_NAME, "h1").text == "admin"


def test_another_site_shows_none_of_our_pages_in_a_frame(server: RunningServer, browser: Chrome) -> None:
    """So nobody clicks on what they do not see."""
    with another_site(f"<iframe src='{server.address}/account'></iframe>") as address:
        browser.get(address)
        browser.switch_to.frame(0)
        framed = browser.page_source
        browser.switch_to.default_content()

    assert "plumbline" not in framed.lower().replace(server.address, "")
