"""The same facts as JSON."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi.testclient import TestClient

from monitor.investigate.sources import Sources


def test_the_api_tells_what_the_pages_show(client: TestClient, story: Any) -> None:
    """One query layer: the numbers are the same."""
    overview = client.get("/api/overview").json()
    assert {row["standing"] for row in overview["rows"]} == {"breach", "pending"}
    breaches = client.get("/api/breaches?state=open").json()["rows"]
    assert story.breach_id in {row["id"] for row in breaches}
    breach = client.get(f"/api/breaches/{story.breach_id}").json()
    assert breach["breach"]["worst"] == 0.893
    assert sum(breach["spread"][1]["shares"]) > 0.999
    assert breach["contributors"][0]["contributor"]["record_id"] == story.worst
    drift = client.get("/api/drift?state=drifted").json()["findings"]
    assert {finding["signal"] for finding in drift} == {
        "hss",
        "entity_support",
        "shap_instability",
    }
    series = "service=newsroom&model=gemma-270m&category=politics"
    assert len(client.get(f"/api/drift/series?{series}").json()["signals"]) == 4
    page = client.get(f"/api/records?{series}&limit=2").json()
    assert len(page["rows"]) == 2
    more = client.get(f"/api/records?{series}&limit=2&after={page['next']}").json()
    assert {row["id"] for row in page["rows"]}.isdisjoint(row["id"] for row in more["rows"])


def test_a_record_is_told_with_all_its_parts(client: TestClient, story: Any) -> None:
    """Whatever characters its id holds."""
    record = client.get(f"/api/records/{quote(story.hostile, safe='')}").json()
    assert record["record"]["id"] == story.hostile
    assert record["document"].startswith("<script>")
    version = record["versions"][0]
    assert abs(sum(move["mass"] for move in version["moves"]) - 1) < 1e-6
    assert record["request"]["messages"][0] == ["system", "You are a careful editor."]
    assert record["methods"][0]["words"][0]["start"] == 0


def test_acknowledging_and_marking_answer_with_what_is_stored(
    client: TestClient, sources: Sources, story: Any
) -> None:
    """JSON is no browser's form: it needs no hidden field."""
    path = f"/api/breaches/{story.breach_id}"
    seen = client.post(f"{path}/acknowledge", json={"name": "Noor", "note": "on it"})
    assert (seen.status_code, seen.json()["acknowledged_by"]) == (200, "Noor")
    said = {"record_id": story.worst, "right": True, "name": "Noor"}
    marked = client.post(f"{path}/mark", json=said)
    assert (marked.status_code, marked.json()["mark"]) == (200, True)
    assert sources.breaches.mark_counts()[0].true >= 1


def test_problems_are_told_as_json(client: TestClient, story: Any) -> None:
    """With the status that a client can act on."""
    for path, status in (
        ("/api/records/none", 404),
        ("/api/breaches/none", 404),
        ("/api/drift/series?service=x&model=y", 404),
        ("/api/records?limit=500", 400),
        ("/api/records?state=lost", 400),
    ):
        answer = client.get(path)
        assert (answer.status_code, list(answer.json())) == (status, ["detail"]), path
    path = f"/api/breaches/{story.breach_id}/mark"
    unknown = client.post(path, json={"record_id": "none", "right": True, "name": "N"})
    assert unknown.status_code == 400
    missing = client.post("/api/breaches/none/acknowledge", json={"name": "N"})
    assert missing.status_code == 404


def test_a_refusal_names_field_value_and_what_it_should_be(client: TestClient) -> None:
    """Whoever writes a script against the API reads nothing else."""
    detail = client.get("/api/records?limit=500").json()["detail"]
    assert detail == "limit: '500'; Input should be less than or equal to 200"


def test_openapi_describes_every_answer(client: TestClient) -> None:
    """A client can be made from it."""
    told = client.get("/api/openapi.json").json()
    for path in (
        "/api/overview",
        "/api/breaches",
        "/api/breaches/{breach_id}",
        "/api/drift",
        "/api/drift/series",
        "/api/records",
        "/api/records/{record_id}",
    ):
        schema = told["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        assert schema["schema"]["$ref"].startswith("#/components/schemas/"), path
    assert not [path for path in told["paths"] if not path.startswith("/api/")]
