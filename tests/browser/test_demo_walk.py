"""The same walk over the demo's own bad release, as a newcomer walks it.

`HSS_DEMO_RUN=hss-demo/<run>` takes a demo that was played before; else one is played first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from monitor.demo.processes import Child, free_port

LOOKS = ("desktop-light", "desktop-dark", "phone-light", "phone-dark")


def _played(folder: Path) -> Path:
    command = ["-m", "monitor", "demo", "--once", "--port", str(free_port())]
    subprocess.run(
        [sys.executable, *command, "--folder", folder],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=1500,
    )
    return next(folder.rglob("hss-monitor.yaml")).parent


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A front on the database of a demo that is over."""
    told = os.environ.get("HSS_DEMO_RUN")
    run = Path(told) if told else _played(tmp_path_factory.mktemp("demo"))
    port = free_port()
    front = Child(
        "front",
        [sys.executable, "-m", "monitor", "run", "--config", str(run / "hss-monitor.yaml")],
        health=f"http://127.0.0.1:{port}/healthz",
        log=tmp_path_factory.mktemp("front") / "front.log",
        env={
            **os.environ,
            "HSS_MONITOR__HTTP__PORT": str(port),
            "HSS_MONITOR__EXECUTION__BACKEND": "none",
            "HSS_MONITOR__EVALUATION__ENABLED": "false",
        },
    )
    front.start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{port}"), None
    front.stop()


@pytest.fixture
def look(browser: Any, request: pytest.FixtureRequest) -> None:
    """Sets the window that the test is run in."""
    made = browser.look.__globals__["LOOKS"]
    [wanted] = [look for look in made if look.name == request.param]
    browser.errors()
    browser.look(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS, indirect=True)
@pytest.mark.usefixtures("look")
def test_three_clicks_lead_from_the_overview_to_what_the_bad_release_made_up(browser: Any) -> None:
    """Which release, since when, which words were unstable, which facts were swapped."""
    (breach,) = httpx.get(f"{browser.url}/api/breaches", trust_env=False).json()["rows"][:1]
    browser.open("/")
    browser.shoot("demo-1-overview")
    browser.follow("nav a", "Breaches")
    browser.follow("main a", breach["threshold"])
    assert f"/breaches/{breach['id']}" in browser.driver.current_url
    assert "release bad" in " ".join(browser.text().split())
    browser.shoot("demo-2-breach")
    first = browser.driver.find_element("css selector", "main tbody th a").text
    browser.follow("main tbody th a", first)
    assert "/records/" in browser.driver.current_url
    assert "Not in the document: " in browser.text()
    unstable = browser.driver.find_elements("css selector", ".marked-words .u")
    assert any(word.is_displayed() for word in unstable)
    swaps = browser.driver.find_elements("css selector", ".version[open] .swaps del")
    assert any(swap.is_displayed() for swap in swaps)
    browser.shoot("demo-3-record")
    assert browser.overflow() == 0
    assert browser.errors() == []
