"""A database that cannot be written, under the real front."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from monitor.records import Reason, RecordState, ScoredRecord
from monitor.stores import now

pytestmark = pytest.mark.skipif(
    not hasattr(resource, "prlimit"), reason="no limits of other processes can be set here"
)


def _most_bytes_of_a_file(front: Any, limit: int) -> None:
    """From now on the front's files end there, as on a full disk."""
    _, hard = resource.prlimit(front.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(front.process.pid, resource.RLIMIT_FSIZE, (limit, hard))


def test_a_full_disk_takes_nothing_and_counts_nothing(
    make_sidecar: Any, record: Any, states: Any
) -> None:
    """503 with Retry-After: the sender keeps what could not be stored, and brings it again."""
    front = make_sidecar()
    assert front.post_records(record("before")).json()["sampled"] == 1
    many = [record(f"r{n}", "text " * 400) for n in range(200)]
    spans = {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [_span(n, "text " * 400) for n in range(200)]}]}
        ]
    }

    _most_bytes_of_a_file(front, (front.folder / "hss.db-wal").stat().st_size + 4096)
    refused = front.post_records(*many)
    exported = front.http.post("/v1/traces", json=spans)
    for answer in (refused, exported):
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
    assert "database" in refused.json()["error"]
    assert exported.json()["code"] == 14
    assert front.total("hss_records_received_total") == 1
    assert front.total("hss_ingest_rejected_total", status="503") == 2
    assert front.http.get("/healthz").status_code == 200

    _most_bytes_of_a_file(front, resource.RLIM_INFINITY)
    assert front.post_records(*many).json()["sampled"] == 200
    assert front.http.post("/v1/traces", json=spans).json() == {}
    assert len(states(front)) == 401
    assert front.total("hss_records_received_total") == 401
    front.close()


def _span(number: int, document: str) -> dict[str, Any]:
    flat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": document,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "s",
    }
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in flat.items()]
    ids = {"traceId": f"{number + 1:032x}", "spanId": f"{number + 1:016x}"}
    return {**ids, "name": "chat m", "attributes": attributes}


def test_a_backlog_above_its_limit_is_refused_until_it_shrinks(
    make_sidecar: Any, record: Any
) -> None:
    """Scorers that are down must not fill the disk."""
    front = make_sidecar(http={"port": 0, "backlog_limit": 2})
    assert front.post_records(record("a"), record("b")).status_code == 200
    front.wait_for(lambda: front.post_records(record("b")).status_code == 503)
    refused = front.post_records(record("c"))
    assert "http.backlog_limit" in refused.json()["error"]
    assert int(refused.headers["retry-after"]) > 0

    with front.stores() as stores:
        for item in stores.queue.lease("test", count=5, seconds=60):
            ended = ScoredRecord(
                record_id=item.record.id,
                state=RecordState.SKIPPED,
                reason=Reason.TOO_LONG,
                detail="",
                category="general",
                scored_at=now(),
                fingerprint="fp",
            )
            stores.queue.finish(item.lease, ended)
    front.wait_for(lambda: front.post_records(record("c")).status_code == 200)
    assert front.rows("SELECT id FROM records ORDER BY id") == [{"id": id_} for id_ in "abc"]
    front.close()
