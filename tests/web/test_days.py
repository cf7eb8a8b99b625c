"""Somebody with each role does what their day brings, on a whole server, and in a browser what is a browser's."""

import re
from pathlib import Path

import pytest
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import url_to_be
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.cases import patient
from tests.cases.browser import browser
from tests.cases.processes import admin, server
from tests.cases.running_server import RunningServer
from tests.cases.walkthrough import MANIFEST

__all__ = ["browser", "server"]
pytestmark = pytest.mark.browser
WITHIN_S = 30
YAML = {"Content-Type": "application/yaml"}


@pytest.fixture(autouse=True)
def tall(browser: Chrome) -> None:
    """A window in which every button of a page is in sight."""
    browser.set_window_size(1280, 3000)


def new_token(at: RunningServer, name: str, role: str) -> str:
    """Return the text of a new token."""
    order = {"name": name, "role": role}
    answer = patient.post(f"{at.address}/tokens", json=order, headers=admin(at)).raise_for_status()
    return str(answer.json()["token"])


def bearer(text: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {text}"}


def private(at: RunningServer, slug: str, steward: str) -> str:
    """Make a private benchmark and return its address."""
    content = MANIFEST.replace("slug: tiny", f"slug: {slug}")
    path = f"{at.address}/benchmarks"
    patient.post(f"{path}?visibility=private", content=content, headers=bearer(steward) | YAML).raise_for_status()
    return f"{path}/{slug}"


def sign_in(driver: Chrome, at: RunningServer, text: str) -> None:
    """Sign in with a token and wait for the account."""
    driver.delete_all_cookies()
    driver.get(f"{at.address}/login")
    driver.find_element(By.NAME, "token").send_keys(text)
    driver.find_element(By.CSS_SELECTOR, "main form button").send_keys(Keys.ENTER)
    patience(driver).until(url_to_be(f"{at.address}/account"))


def patience(driver: Chrome) -> WebDriverWait[Chrome]:
    """Return what waits for a page; while one goes and the next comes, elements are stale or belong to no document."""
    return WebDriverWait(driver, WITHIN_S, ignored_exceptions=[WebDriverException])


def press(driver: Chrome, button: str, sees: str) -> str:
    """Press a button of the page and return the text of the one that comes, which has a word in it."""
    before = driver.find_element(By.TAG_NAME, "html")
    driver.find_element(By.XPATH, f"//main//button[normalize-space()='{button}']").send_keys(Keys.ENTER)
    patience(driver).until(lambda _: is_gone(before) and sees in text_of(driver))
    return text_of(driver)


def follow(driver: Chrome, link: str) -> None:
    """Follow a link and wait until its page is there."""
    before = driver.find_element(By.TAG_NAME, "html")
    driver.find_element(By.LINK_TEXT, link).send_keys(Keys.ENTER)
    patience(driver).until(lambda _: is_gone(before))


def is_gone(element: object) -> bool:
    """Say whether the page of an element is no longer there."""
    try:
        return not element.tag_name  # type: ignore[attr-defined]
    except StaleElementReferenceException:
        return True


def text_of(driver: Chrome) -> str:
    """Return what a reader reads of a page."""
    return str(driver.find_element(By.TAG_NAME, "main").text)


def secret(text: str) -> str:
    """Return the token or code that a page shows once."""
    match = re.search(r"pl[bi]_[\w-]{20,}", text)
    assert match is not None, text
    return match[0]


def fill(driver: Chrome, **fields: str) -> None:
    """Fill in fields by their names."""
    for name, value in fields.items():
        field = driver.find_element(By.CSS_SELECTOR, f"main [name='{name}']:not([type=hidden])")
        if field.tag_name == "select":
            Select(field).select_by_visible_text(value)
        else:
            field.clear()
            field.send_keys(value)


def test_a_steward_walks_their_day(server: RunningServer, browser: Chrome) -> None:
    """Invites, gives a role with an end, takes it back, publishes what was private, and reads the audit of it."""
    steward, guest = new_token(server, "stew", "steward"), new_token(server, "guest", "submitter")
    home = private(server, "stews", steward)
    sign_in(browser, server, steward)
    follow(browser, "people")
    code = secret(press(browser, "Invite", "stored nowhere"))
    follow(browser, "Go on")
    fill(browser, token="guest", role="reviewer")
    press(browser, "Grant the role", "guest")
    reads = patient.get(f"{home}.json", headers=bearer(guest)).status_code
    revoke = browser.find_element(By.CSS_SELECTOR, "button[aria-label='Revoke the role of reviewer of guest']")
    revoke.send_keys(Keys.ENTER)
    patience(browser).until(lambda driver: "1 assigned" in text_of(driver))
    later = patient.get(f"{home}.json", headers=bearer(guest)).status_code
    press(browser, "Make it public", "It is public")
    browser.get(f"{server.address}/audit")
    events = text_of(browser)

    assert code.startswith("pli_")
    assert (reads, later, patient.get(home).status_code) == (200, 404, 200)
    assert ("POST /benchmarks/{slug}/visibility" in events, "POST /tokens" in events) == (True, False)


CLASS = [f"Student {at}" for at in range(1, 41)]


def choose(driver: Chrome, name: str, path: Path) -> None:
    """Choose a file in a field, as one that is dropped there."""
    driver.find_element(By.CSS_SELECTOR, f"main input[type=file][name={name}]").send_keys(str(path))


def test_a_teacher_walks_a_class_from_a_file_of_labels_to_the_final_board(
    server: RunningServer, browser: Chrome, tmp_path: Path
) -> None:
    """A dropped file is guessed, corrected, kept as a draft, labelled, opened; forty are invited by a list; one of them
    submits and sees the row; the teacher closes it and reads exact scores. Nobody writes YAML or a program.
    """
    labels, answers = tmp_path / "spam or not.csv", tmp_path / "mine.csv"
    truth = [(f"mail-{at:03}", at % 3 == 0) for at in range(120)]
    labels.write_text("item,label\n" + "".join(f"{item},{'spam' if is_it else 'ham'}\n" for item, is_it in truth))
    sure = [(item, 0.2 + 0.5 * is_it + at % 7 / 20) for at, (item, is_it) in enumerate(truth)]
    answers.write_text("entrant,item,prediction\n" + "".join(f"Mine,{item},{p:.3f}\n" for item, p in sure))
    teacher = new_token(server, "teacher", "steward")

    sign_in(browser, server, teacher)
    follow(browser, "New benchmark")
    choose(browser, "files", labels)
    patience(browser).until(lambda driver: "classes: [ham, spam]" in typed(driver, "yaml"))
    browser.find_element(By.CSS_SELECTOR, "input[name=metric][value=brier]").click()
    patience(browser).until(lambda driver: "brier" not in typed(driver, "yaml"))
    fill(browser, slug="spam-class")
    browser.find_element(By.CSS_SELECTOR, "input[name=slug]").send_keys(Keys.TAB)
    patience(browser).until(lambda driver: "slug: spam-class" in typed(driver, "yaml"))
    press(browser, "Keep as a private draft", "This is a draft")
    choose(browser, "file", labels)
    labelled = press(browser, "Upload the labels", "120 labels, uploaded")
    follow(browser, "Open it, or delete it")
    press(browser, "Make it public", "It is public")
    browser.find_element(By.NAME, "names").send_keys("\n".join(CLASS))
    links = re.findall(r"https?://\S+/invitation\?\S+", press(browser, "Invite them all", "shown only this once"))

    browser.delete_all_cookies()
    # The port of the settings is 0 here: the system's choice.
    browser.get(server.address + links[6][links[6].index("/invitation") :])
    token = secret(press(browser, "Create the token", "stored nowhere"))
    follow(browser, "Go on")
    browser.find_element(By.NAME, "token").send_keys(token)
    press(browser, "Sign in", "Submit to")
    choose(browser, "files", answers)
    press(browser, "Submit", "Submission")
    patience(browser).until(lambda driver: "On the boards since" in text_of(driver))
    browser.get(f"{server.address}/benchmarks/spam-class/leaderboards/main")
    row = browser.find_element(By.CSS_SELECTOR, "#rows tr").text

    sign_in(browser, server, teacher)
    browser.get(f"{server.address}/desk/spam-class")
    browser.find_element(By.CSS_SELECTOR, "form[action*='/close'] textarea").send_keys("the term is over")
    press(browser, "Close it for ever", "Final boards with exact scores")
    follow(browser, "Final boards with exact scores")
    exact = text_of(browser)

    assert "No boards yet" not in labelled
    assert len(set(links)) == 40
    assert "Mine" in row
    assert "Mine" in exact


def typed(driver: Chrome, name: str) -> str:
    """Return what is in a field, nothing where there is none yet."""
    found = driver.find_elements(By.CSS_SELECTOR, f"main [name='{name}']")
    return str(found[0].get_attribute("value")) if found else ""
