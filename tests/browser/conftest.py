"""The real front over a filled database, and a real browser in front of it."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from monitor.storage.engine import connect
from monitor.storage.schema import upgrade

_here = Path(__file__).parent
_sidecar = runpy.run_path(str(_here.parent / "acceptance" / "sidecar.py"))
_tell = runpy.run_path(str(_here / "story.py"))["tell"]

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
AXE = "axe-core@4.10.2"


@dataclass(frozen=True, kw_only=True)
class Look:
    """A window and a colour scheme."""

    name: str
    width: int
    height: int
    dark: bool


LOOKS = (
    Look(name="desktop-light", width=1280, height=900, dark=False),
    Look(name="desktop-dark", width=1280, height=900, dark=True),
    Look(name="phone-light", width=390, height=844, dark=False),
    Look(name="phone-dark", width=390, height=844, dark=True),
)


class Browser:
    """A browser that remembers what it was told and what it asked for."""

    def __init__(self, driver: webdriver.Chrome, url: str, shots: Path) -> None:
        self.driver = driver
        self.url = url
        self._shots = shots
        self._look = LOOKS[0]

    def look(self, look: Look) -> None:
        """Take a window's size and a colour scheme."""
        self._look = look
        scheme = {"name": "prefers-color-scheme", "value": "dark" if look.dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._frame(look.height)

    def open(self, path: str) -> None:
        self.driver.get(self.url + path)

    def follow(self, css: str, words: str) -> None:
        """Click the first such element that says these words, and wait for its page.

        A click on a form's button returns before the browser has left the page: what is read
        right after it may still be the old one.
        """
        left = self.driver.find_element("css selector", "html")
        for element in self.driver.find_elements("css selector", css):
            if words in element.text:
                self.driver.execute_script("arguments[0].scrollIntoView({block:'center'})", element)
                element.click()
                self._arrive(left, f"the page behind {words!r}")
                return
        raise AssertionError(f"no {css} with {words!r} on {self.driver.current_url}")

    def text(self) -> str:
        return str(self.driver.find_element("css selector", "main").text)

    def overflow(self) -> int:
        """Pixels by which the page is wider than its window."""
        script = "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
        return int(self.driver.execute_script(script))

    def scrolled(self) -> list[str]:
        """Tables that scroll sideways within the page, and by how many pixels."""
        script = """
          return Array.from(document.querySelectorAll('.scroll'))
            .filter((each) => each.scrollWidth > each.clientWidth)
            .map((each) => `${each.ariaLabel}: ${each.scrollWidth - each.clientWidth}`)
        """
        return [str(words) for words in self.driver.execute_script(script)]

    def cut_off(self) -> list[str]:
        """Words of cells in cards that reach beyond their card: nobody scrolls within a card."""
        script = """
          const cut = [];
          for (const cell of document.querySelectorAll('.stacked td, .stacked tbody th')) {
            if (getComputedStyle(cell.parentElement).display !== 'grid') continue;
            const edge = cell.parentElement.getBoundingClientRect().right + 1;
            const range = document.createRange();
            range.selectNodeContents(cell);
            const wide = Array.from(range.getClientRects()).some((box) => box.right > edge);
            if (wide || cell.scrollWidth > cell.clientWidth + 1) cut.push(cell.textContent.trim());
          }
          return cut;
        """
        return [str(words) for words in self.driver.execute_script(script)]

    def shoot(self, name: str) -> Path:
        """A picture of the whole page."""
        script = "return document.documentElement.scrollHeight"
        self._frame(min(int(self.driver.execute_script(script)), 6000))
        file = self._shots / f"{name}-{self._look.name}.png"
        self.driver.save_screenshot(str(file))
        self._frame(self._look.height)
        return file

    def errors(self) -> list[str]:
        """What its console complained about since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def requests(self) -> set[str]:
        """Every address that it asked for since the last call."""
        found = set()
        for entry in self.driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.add(message["params"]["request"]["url"])
        return found

    def _arrive(self, left: WebElement, what: str) -> None:
        """Wait until the page that this element is the root of is gone, and the next is whole."""
        wait = WebDriverWait(self.driver, 30)
        wait.until(staleness_of(left), f"{what} did not come")
        whole = "return document.readyState === 'complete'"
        wait.until(lambda driver: driver.execute_script(whole), f"{what} came in part")

    def _frame(self, height: int) -> None:
        frame = {
            "width": self._look.width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": self._look.width < 500,
        }
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", frame)


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: HSS_SCREENSHOTS, to look at them, or a folder of the run."""
    named = os.environ.get("HSS_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """The front, and the story that fills its database."""
    folder = tmp_path_factory.mktemp("night")
    url = f"sqlite:///{folder / 'hss.db'}"
    database = connect(url)
    upgrade(database)
    story = _tell(database, records=120)
    database.close()
    sidecar = _sidecar["Sidecar"](
        folder, {"evaluation": {"enabled": False}, "windows": {"seconds": 1800}}
    )
    sidecar.start()
    yield sidecar, story
    sidecar.close()


@pytest.fixture(scope="module")
def browser(night: tuple[Any, Any], shots: Path, tmp_path_factory: Any) -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = Options()
    options.binary_location = chromium
    for switch in SWITCHES:
        options.add_argument(switch)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield Browser(driver, night[0].url.rstrip("/"), shots)
    finally:
        driver.quit()


@pytest.fixture
def story(night: tuple[Any, Any]) -> Any:
    return night[1]


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, which axe-core comes by")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), AXE]
    made = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    if made.returncode != 0:
        pytest.skip(f"axe-core cannot be installed from npm: {made.stderr.strip()[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()
