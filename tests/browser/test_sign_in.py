"""Signing in, and what another site can do, in a real browser."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.support.wait import WebDriverWait

_sidecar = runpy.run_path(str(Path(__file__).parents[1] / "acceptance" / "sidecar.py"))
TOKEN = "iv-5d2e91c077aa"
LINK = '<a href="{0}/records">look</a>'
FORGERY = """
<form method="post" action="{0}/breaches/b1/acknowledge">
<input name="name" value="x"><button>win</button>
</form>
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A sidecar with an investigator's and a viewer's token."""
    access = {"investigator_token": TOKEN, "viewer_token": "vi-c41f"}
    sidecar = _sidecar["Sidecar"](tmp_path_factory.mktemp("guarded"), {"access": access})
    sidecar.start()
    yield sidecar
    sidecar.close()


@pytest.fixture
def elsewhere(guarded: Any) -> Iterator[str]:
    """Another site: to a browser `localhost` is another one than 127.0.0.1."""
    address = guarded.url.rstrip("/")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = (LINK + FORGERY).format(address).encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Nothing: standard error belongs to the test."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def sign_in(driver: Any, address: str, token: str) -> None:
    driver.get(f"{address}/sign-in?next=/records?state=scored")
    driver.find_element("id", "token").send_keys(token)
    driver.find_element("css selector", "main button").click()


def comes_to(driver: Any, address: str, words: str) -> None:
    """Wait for a page at an address that says some words; fail where it does not come."""
    changing = [NoSuchElementException, StaleElementReferenceException]
    WebDriverWait(driver, 30, ignored_exceptions=changing).until(
        lambda _: (
            driver.current_url == address
            and words in driver.find_element("css selector", "main").text
        ),
        f"{words!r} at {address}",
    )


def test_a_person_signs_in_looks_and_signs_out(browser: Any, guarded: Any) -> None:
    """Where they wanted to go is where they come to, with a wrong token tried first."""
    driver, address = browser.driver, guarded.url.rstrip("/")
    sign_in(driver, address, "guess")
    comes_to(driver, f"{address}/sign-in", "no token of a viewer")
    sign_in(driver, address, TOKEN)
    comes_to(driver, f"{address}/records?state=scored", "Records")
    assert driver.execute_script("return document.cookie") == "", "no script reads the session"
    browser.follow("header button", "Sign out")
    comes_to(driver, f"{address}/sign-in", "Sign in")
    driver.get(f"{address}/records")
    comes_to(driver, f"{address}/records", "this needs a token")


def test_an_alerts_link_on_another_site_leads_to_the_page(
    browser: Any, guarded: Any, elsewhere: str
) -> None:
    """The session's cookie stays away from such a request; the page asks once more, with it."""
    driver, address = browser.driver, guarded.url.rstrip("/")
    sign_in(driver, address, TOKEN)
    comes_to(driver, f"{address}/records?state=scored", "Records")
    driver.get(elsewhere)
    browser.follow("a", "look")
    comes_to(driver, f"{address}/records", "Records")


def test_a_form_of_another_site_is_refused(browser: Any, guarded: Any, elsewhere: str) -> None:
    """Signed in, and fooled into pressing its button."""
    driver, address = browser.driver, guarded.url.rstrip("/")
    sign_in(driver, address, TOKEN)
    comes_to(driver, f"{address}/records?state=scored", "Records")
    driver.get(elsewhere)
    browser.follow("button", "win")
    comes_to(driver, f"{address}/breaches/b1/acknowledge", "this needs a token")
    driver.get(f"{address}/records")
    comes_to(driver, f"{address}/records", "Records")


def test_without_tokens_a_form_of_another_site_is_refused_too(browser: Any, tmp_path: Path) -> None:
    """An open sidecar on one's own machine, and any page in the same browser."""
    driver = browser.driver
    page = tmp_path / "evil.html"
    page.write_text(FORGERY.format(browser.url))
    driver.get(page.as_uri())
    browser.follow("button", "win")
    comes_to(driver, f"{browser.url}/breaches/b1/acknowledge", "another site sent this")
