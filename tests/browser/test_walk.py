"""From the overview to the swapped facts, as somebody on call walks it at night."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

LOOKS = ("desktop-light", "desktop-dark", "phone-light", "phone-dark")


@pytest.fixture
def look(browser: Any, request: pytest.FixtureRequest) -> None:
    """Sets the window that the test is run in."""
    made = browser.look.__globals__["LOOKS"]
    [wanted] = [look for look in made if look.name == request.param]
    browser.errors()
    browser.look(wanted)


def paths_of(story: Any) -> dict[str, str]:
    return {
        "overview": "/",
        "breaches": "/breaches",
        "breach": f"/breaches/{story.breach_id}",
        "resolved": f"/breaches/{story.resolved_id}",
        "drift": "/drift",
        "series-drift": "/drift?service=newsroom&model=gemma-270m&category=politics",
        "records": "/records",
        "record": f"/records/{story.worst}",
        "hostile": f"/records/{quote(story.hostile, safe='')}",
        "waiting": f"/records/{story.waiting}",
        "skipped": f"/records/{story.skipped}",
    }


@pytest.mark.parametrize("look", LOOKS, indirect=True)
@pytest.mark.usefixtures("look")
def test_two_clicks_lead_from_the_overview_to_the_unstable_words(browser: Any, story: Any) -> None:
    """The page at 3 a.m.: what changed, since when, which records, why."""
    browser.open("/")
    assert "2 open breaches" in browser.text()
    browser.shoot("1-overview")
    browser.follow("main a", "hss_mean")
    assert f"/breaches/{story.breach_id}" in browser.driver.current_url
    assert "2026.11.30-rc2" in browser.text()
    browser.shoot("2-breach")
    browser.follow("main tbody th a", story.worst)
    assert browser.driver.current_url.endswith(f"/records/{story.worst}")
    shown = browser.text()
    assert "Not in the document: Dublin" in shown
    unstable = browser.driver.find_elements("css selector", ".marked-words .u")
    assert any(word.is_displayed() for word in unstable)
    swaps = browser.driver.find_elements("css selector", ".version[open] .swaps del")
    assert any(swap.is_displayed() for swap in swaps)
    drawn = browser.driver.find_elements("css selector", ".version[open] svg.ribbons")
    assert [picture.is_displayed() for picture in drawn].count(True) == 1
    browser.shoot("3-record")
    assert browser.errors() == []


@pytest.mark.parametrize("look", LOOKS, indirect=True)
@pytest.mark.usefixtures("look")
def test_no_page_is_wider_than_its_window_or_makes_the_browser_complain(
    browser: Any, story: Any
) -> None:
    """Wide tables scroll within themselves; the content policy holds everywhere."""
    browser.requests()
    for name, path in paths_of(story).items():
        browser.open(path)
        assert browser.overflow() == 0, name
        assert browser.cut_off() == [], name
        if name in {"breaches", "drift"}:
            assert browser.scrolled() == [], name
        assert browser.errors() == [], name
        assert "owned" not in browser.driver.title, name
        browser.shoot(f"page-{name}")
    hosts = {urlsplit(url).hostname for url in browser.requests() if url.startswith("http")}
    assert hosts == {"127.0.0.1"}


@pytest.mark.parametrize("look", LOOKS, indirect=True)
@pytest.mark.usefixtures("look")
def test_axe_finds_no_fault(browser: Any, story: Any, axe: str) -> None:
    """Contrast, names, structure: with everything that can be folded out unfolded."""
    found = {}
    for name, path in paths_of(story).items():
        if name == "hostile":
            continue  # the same page with thousands of words more
        browser.open(path)
        browser.driver.execute_script(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        browser.driver.execute_script(axe)
        report = browser.driver.execute_async_script(
            "axe.run(document, {resultTypes: ['violations']}).then(arguments[0])"
        )
        faults = [
            (fault["id"], fault["impact"], [node["html"][:160] for node in fault["nodes"][:3]])
            for fault in report["violations"]
            if fault["impact"] in ("moderate", "serious", "critical")
        ]
        if faults:
            found[name] = faults
    assert found == {}, json.dumps(found, indent=1)


@pytest.mark.parametrize("look", ["desktop-light"], indirect=True)
@pytest.mark.usefixtures("look")
def test_a_breach_is_acknowledged_and_a_record_marked_by_hand(browser: Any, story: Any) -> None:
    """Through the forms, with the session's cookie, as a person does it."""
    browser.open(f"/breaches/{story.breach_id}")
    form = "form[action$='/acknowledge']"
    browser.driver.find_element("css selector", f"{form} [name=name]").send_keys("Noor")
    browser.driver.find_element("css selector", f"{form} [name=note]").send_keys("rolled back")
    browser.follow(f"{form} button", "I have seen it")
    assert "rolled back" in browser.text()
    form = "form[action$='/mark']"
    browser.driver.find_element("css selector", f"{form} [name=name]").send_keys("Noor")
    browser.follow(f"{form} button", "no")
    assert "✗ no, Noor" in browser.text()
    assert browser.errors() == []


@pytest.mark.parametrize("look", ["desktop-light"], indirect=True)
@pytest.mark.usefixtures("look")
def test_everything_works_without_a_script(browser: Any, story: Any) -> None:
    """There is none: what the browser is told to run never comes from us."""
    for path in paths_of(story).values():
        browser.open(path)
        assert browser.driver.find_elements("css selector", "script") == []
