"""The pages as text: what they say, and that foreign texts can do nothing in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from monitor.investigate.record import record_facts
from monitor.investigate.rendering import environment
from monitor.investigate.sources import Sources

ALLOWED = frozenset(
    {
        "html",
        "head",
        "meta",
        "title",
        "link",
        "body",
        "a",
        "header",
        "span",
        "nav",
        "p",
        "time",
        "form",
        "input",
        "button",
        "main",
        "section",
        "h1",
        "h2",
        "h3",
        "ul",
        "li",
        "b",
        "q",
        "bdi",
        "br",
        "i",
        "em",
        "code",
        "dl",
        "div",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "details",
        "summary",
        "blockquote",
        "mark",
        "del",
        "ins",
        "label",
        "select",
        "option",
        "datalist",
        "footer",
        "svg",
        "desc",
        "g",
        "path",
        "rect",
        "circle",
        "line",
        "polyline",
        "polygon",
        "text",
    }
)
"""Elements that our templates and pictures use; anything else came out of a text."""
VOID = frozenset({"meta", "link", "br", "input"})


class Reader(HTMLParser):
    """Collects the elements of a page and insists that they are well nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        self.links += [str(values[name]) for name in ("href", "src", "action") if name in values]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def paths(story: Any) -> list[str]:
    """Every kind of page."""
    series = "service=newsroom&model=gemma-270m&category=politics"
    return [
        "/",
        "/breaches",
        f"/breaches/{story.breach_id}",
        f"/breaches/{story.resolved_id}",
        "/drift",
        f"/drift?{series}",
        "/records",
        f"/records?{series}&text=Wexford",
        f"/records/{quote(story.worst, safe='')}",
        f"/records/{quote(story.hostile, safe='')}",
        f"/records/{story.waiting}",
        f"/records/{story.skipped}",
    ]


def test_every_page_is_well_formed_and_loads_nothing_from_elsewhere(
    client: TestClient, paths: list[str]
) -> None:
    """No script, no style in attributes (the content policy forbids both), unique ids."""
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        page = read(answer.text)
        assert page.seen - ALLOWED == set(), path
        assert "style" not in page.attributes, path
        assert not [name for name in page.attributes if name.startswith("on")], path
        assert len(page.ids) == len(set(page.ids)), path
        assert [link for link in page.links if not link.startswith(("/", "#"))] == [], path


def test_a_hostile_text_is_shown_as_it_is_and_does_nothing(client: TestClient, story: Any) -> None:
    """Tags, quotes, templates, a long word, right-to-left letters, emoji: all of it is text."""
    path = f"/records/{quote(story.hostile, safe='')}"
    page = read(client.get(path).text)
    shown = "".join(page.texts)
    for piece in (
        "<script>document.title='owned'</script>",
        "\"quoted\" & 'single' <b>not bold</b>",
        "<img src=x onerror=\"document.title='owned'\">",
        "w" * 3000,
        "عقد المجلس جلسة طويلة",
        "🎉👩‍👩‍👧‍👦",
        "{{ 7 * 7 }}",
    ):
        assert piece in shown
    assert "script" not in page.seen
    assert "img" not in page.seen
    assert story.hostile in shown


def test_the_document_of_50_000_characters_is_shown_whole(
    client: TestClient, sources: Sources, story: Any
) -> None:
    """However many stretches it is cut into, joined they are the text."""
    facts = record_facts(sources, story.hostile, texts=True)
    assert facts is not None
    assert facts.document is not None
    assert len(facts.document) > 40_000
    page = client.get(f"/records/{quote(story.hostile, safe='')}").text
    [start] = [m.end() for m in re.finditer(r'class="text marked-words" dir="auto">', page)][:1]
    inside = page[start : page.index("</div>", start)]
    assert "".join(read(inside).texts) == facts.document


def test_the_overview_never_shows_hss_alone(client: TestClient) -> None:
    """A model that invents the same thing each time does not tremble."""
    page = client.get("/").text
    assert page.count("Entity support ") >= page.count('title">HSS 0.') > 0
    assert "HSS is instability, not truth" in page


def test_the_effect_on_a_length_says_that_it_counts_in_ranks(client: TestClient) -> None:
    """Beside means in words a bare +0.040 would be read as words, too."""
    page = client.get("/drift?service=newsroom&model=gemma-270m&category=politics").text
    assert page.count('<span class="ago">of rank</span>') == 1
    _, of_length = page.split("document length (words)", 1)
    assert '<b>+0.040</b> <span class="ago">of rank</span>' in of_length


def test_the_overview_does_not_look_calm_while_something_has_drifted(client: TestClient) -> None:
    """Drift may come long before a threshold is exceeded."""
    page = client.get("/").text
    assert "2 open breaches, 1 series drifted</h2>" in page


@pytest.mark.parametrize(
    ("query", "leads_to"),
    [
        ("threshold=hss_mean&service=newsroom&model=gemma-270m&category=politics&", "open"),
        ("threshold=hss_mean&service=newsroom&model=other", "open"),
        ("threshold=null_distance_high", "resolved"),
        ("service=newsroom", "list"),
        ("threshold=unheard_of", "list"),
    ],
)
def test_the_link_of_an_alert_leads_to_the_breach(
    client: TestClient, story: Any, query: str, leads_to: str
) -> None:
    """At night one click less; an old message still leads to what it was about."""
    places = {
        "open": f"/breaches/{story.breach_id}",
        "resolved": f"/breaches/{story.resolved_id}",
        "list": f"/breaches?{query}",
    }
    answer = client.get(f"/breaches/latest?{query}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, places[leads_to])
    assert client.get(f"/breaches/latest?{query}").status_code == 200


def test_the_breach_page_names_the_release_that_came_with_it(
    client: TestClient, story: Any
) -> None:
    """The question of the night."""
    shown = "".join(read(client.get(f"/breaches/{story.breach_id}").text).texts)
    assert re.search(r"new\s+release 2026\.11\.30-rc2 of gemma-270m", shown)
    assert "worst 0.893" in shown
    assert "not kept any more" in shown


def test_the_page_of_a_resolved_breach_is_in_the_past_tense(client: TestClient, story: Any) -> None:
    """Its threshold has no value now, because traffic stopped: nobody would believe that it is
    over."""
    shown = " ".join("".join(read(client.get(f"/breaches/{story.resolved_id}").text).texts).split())
    assert "The mean was 0.122 at worst, limit: above 0.050, in a window of 15 min." in shown
    assert re.search(r"Exceeded from \S+ \S+ 4 h ago, resolved \S+ \S+ 3 h ago, 1 h later\.", shown)
    assert "no value now" not in shown
    assert "Exceeded since" not in shown
    assert re.search(
        r"serving noise \(null distance\) drifted, change estimated at .+, and is over", shown
    )


def test_a_line_about_a_resolved_breach_tells_how_far_it_went(sources: Sources, story: Any) -> None:
    """Its last value lies on the good side: "0.041 above 0.050" would be nonsense."""
    detail = sources.breaches.breach(story.resolved_id)
    assert detail is not None
    parts = environment().get_template("parts.html").module
    line = " ".join("".join(read(parts.breach_line(detail.breach, sources.clock())).texts).split())
    assert "0.122 above 0.050 resolved 3 h ago" in line


def test_the_record_page_shows_words_swaps_differences_and_transport(
    client: TestClient, story: Any
) -> None:
    """Everything that explains the score stands on one page, pictures also as tables."""
    page = client.get(f"/records/{story.worst}").text
    assert re.search(r'class="w [pm][1-4]', page)
    assert re.search(r'class="w [pmz][0-4] u"', page)
    assert "<del>" in page
    assert "<ins" in page
    assert '<mark class="unsupported"' in page
    assert re.search(r'class="cost c[3-5]"', page)
    assert "Transport as a table" in page
    assert "The request that is replayed" in page
    assert page.count('role="img"') == page.count("<desc ")


def test_acknowledging_and_marking_come_back_to_the_breach(
    client: TestClient, sources: Sources, story: Any, form_of: Callable[[str], dict[str, str]]
) -> None:
    """Post, redirect, get: loading again sends nothing twice."""
    path = f"/breaches/{story.breach_id}"
    said = form_of(path) | {"name": "Noor <b>", "note": "rolled back"}
    answer = client.post(f"{path}/acknowledge", data=said, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    marked = form_of(path) | {"name": "Noor <b>", "wrong": story.worst}
    answer = client.post(f"{path}/mark", data=marked, follow_redirects=False)
    back = f"{path}?name=Noor+%3Cb%3E#contributors"
    assert (answer.status_code, answer.headers["location"]) == (303, back)
    assert client.get(back).text.count('name="name" value="Noor &lt;b&gt;"') == 2
    detail = sources.breaches.breach(story.breach_id)
    assert detail is not None
    assert (detail.breach.acknowledged_by, detail.breach.note) == ("Noor <b>", "rolled back")
    [contributor] = [c for c in detail.contributors if c.record_id == story.worst]
    assert (contributor.mark, contributor.marked_by) == (False, "Noor <b>")
    shown = client.get(path).text
    assert "Noor &lt;b&gt;" in shown
    assert "✗ no" in shown
    assert "hss_mean" in client.get("/breaches").text


def test_a_form_without_its_hidden_field_is_refused(client: TestClient, story: Any) -> None:
    """Another site cannot know it."""
    answer = client.post(f"/breaches/{story.breach_id}/acknowledge", data={"name": "Eve"})
    assert answer.status_code == 403
    assert answer.headers["content-type"].startswith("text/html")
    assert "load its page again" in answer.text


@pytest.mark.parametrize(
    ("said", "problem"),
    [({"name": " "}, "name: empty"), ({"name": "n" * 101}, "name: 101 characters")],
)
def test_a_form_that_cannot_be_taken_says_why(
    client: TestClient,
    story: Any,
    form_of: Callable[[str], dict[str, str]],
    said: dict[str, str],
    problem: str,
) -> None:
    """As a page, with what to do instead."""
    path = f"/breaches/{story.breach_id}"
    answer = client.post(f"{path}/acknowledge", data=form_of(path) | said)
    assert answer.status_code == 400
    assert problem in answer.text


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/records/none", 404, "not stored"),
        ("/breaches/none", 404, "not stored"),
        ("/drift?service=x&model=y&category=", 404, "nothing watches it"),
        ("/records?state=lost", 400, "none of"),
        ("/records?since=yesterday", 400, "is no time"),
        ("/records?min_hss=2", 400, "no number from 0 to 1"),
        ("/records?after=x", 400, "no position in a list"),
        ("/breaches?state=ok", 400, "none of"),
        ("/drift?state=ok", 400, "none of"),
        ("/static/pages.py", 404, "none of our files"),
    ],
)
def test_what_cannot_be_shown_is_said_as_a_page(
    client: TestClient, path: str, status: int, words: str
) -> None:
    """With the way back."""
    answer = client.get(path)
    assert answer.status_code == status
    assert words in answer.text
    assert 'href="/"' in answer.text


def test_a_filter_that_nothing_passes_is_told_from_no_verdict_at_all(client: TestClient) -> None:
    """Else somebody would calibrate because of a typing error."""
    page = client.get("/drift?service=nowhere").text
    assert "No verdict passes this filter." in page
    assert "hss-monitor calibrate" not in page


@pytest.mark.parametrize("page", ["/records", "/breaches", "/drift"])
def test_a_name_that_only_metrics_have_does_not_hide_everything(
    client: TestClient, page: str
) -> None:
    """Grafana's links carry `other` where a label folds names; no record is called so."""
    rest = "&model=gemma-270m&category=politics"
    narrowed = client.get(f"{page}?service=other{rest}")
    assert narrowed.status_code == 200
    assert "Not narrowed by service:" in narrowed.text
    assert "newsroom · gemma-270m · politics" in narrowed.text
    both = client.get(f"{page}?service=other&model=other&category=politics").text
    assert "Not narrowed by service and model:" in both
    assert "Not narrowed" not in client.get(f"{page}?service=newsroom").text


def test_reading_texts_is_noted_and_withheld_from_viewers(
    guarded: TestClient, sources: Sources, story: Any
) -> None:
    """A viewer sees numbers, positions and the reason; an investigator's view is noted."""
    path = f"/records/{story.worst}"
    before = len(sources.audit.views(record_id=story.worst))
    viewer = guarded.get(path, headers={"authorization": "Bearer " + "v" * 24})
    assert viewer.status_code == 200
    for word in ("Wexford", "Dublin", "budget", "fishermen", "careful editor"):
        assert word not in viewer.text
    assert "investigators only" in viewer.text
    assert len(sources.audit.views(record_id=story.worst)) == before
    search = guarded.get("/records?text=a", headers={"authorization": "Bearer " + "v" * 24})
    assert search.status_code == 400
    investigator = guarded.get(path, headers={"authorization": "Bearer " + "i" * 24})
    assert "Wexford" in investigator.text
    [view] = sources.audit.views(record_id=story.worst)[:1]
    assert (view.role, view.channel) == ("investigator", "page")


def test_where_only_hashes_are_kept_pages_show_positions(
    hashed: tuple[TestClient, Any],
) -> None:
    """No word of any text, and the reason why."""
    client, story = hashed
    for path in (f"/records/{story.worst}", f"/breaches/{story.breach_id}", "/records", "/"):
        page = client.get(path)
        assert page.status_code == 200
        for word in ("Wexford", "Dublin", "commerce", "careful editor"):
            assert word not in page.text, path
    page = client.get(f"/records/{story.worst}").text
    assert "hash_only" in page
    assert "SHAP, by position" in page
    assert 'class="cost c' in page
    assert "position " in page


def test_the_style_sheet_may_be_kept_and_changes_its_address(client: TestClient) -> None:
    """A browser asks for it once a version."""
    address = re.search(r'href="(/static/style\.css\?v=[0-9a-f]{12})"', client.get("/").text)
    assert address is not None
    answer = client.get(address[1])
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
