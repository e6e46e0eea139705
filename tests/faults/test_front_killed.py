"""kill -9 of the front under load, alone and together with its scorers."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import httpx

FINAL = {"scored", "skipped", "failed"}
UNCOUNTED = "SELECT count(*) AS n FROM records WHERE observed_at IS NULL"


class Sender:
    """Posts records one by one from several threads and notes what was answered."""

    def __init__(self, url: str, record: Any, *, threads: int = 4) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        """By record id: what a 2xx answer said."""
        self.unanswered: dict[str, dict[str, Any]] = {}
        self._record = record
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(url, number)) for number in range(threads)
        ]

    def __enter__(self) -> Sender:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self, url: str, number: int) -> None:
        with httpx.Client(base_url=url, trust_env=False, timeout=10.0) as client:
            count = 0
            while not self._stop.is_set():
                count += 1
                # Every other one without an id of its own: it is known by trace and span.
                span = {"trace_id": f"{number + 1:032x}", "span_id": f"{count:016x}"}
                own = None if count % 2 else f"own-{number}-{count}"
                key = own or f"{span['trace_id']}-{span['span_id']}"
                made = self._record(own, **span)
                self.unanswered[key] = made
                with contextlib.suppress(httpx.HTTPError):
                    answer = client.post("/v1/records", json=made)
                    assert answer.status_code == 200
                    self.answers[key] = answer.json()
                    del self.unanswered[key]
                    continue
                return


def test_what_was_answered_is_kept_and_what_was_not_can_be_sent_again(
    make_sidecar: Any, record: Any, states: Any
) -> None:
    """2xx is a promise; a sender without an answer repeats itself, and that counts once."""
    front = make_sidecar(sampling={"rate": 0.5})
    with Sender(front.url, record) as sender:
        front.wait_for(lambda: len(sender.answers) > 80)
        front.kill()
    promised = {key for key, told in sender.answers.items() if told["sampled"]}
    assert 0 < len(promised) < len(sender.answers), "half of them are not sampled"
    assert sender.unanswered, "the kill came while requests were under way"

    front.start()
    kept = states(front)
    assert promised <= kept.keys()
    assert kept.keys() <= promised | sender.unanswered.keys()

    again = front.post_records(*sender.unanswered.values()).json()
    assert again["accepted"] == len(sender.unanswered)
    known = front.post_records(*(record(key) for key in sorted(promised) if "own" in key)).json()
    assert known["accepted"] == len([key for key in promised if "own" in key])
    ids = states(front).keys()
    assert promised <= ids <= promised | sender.unanswered.keys()
    assert len(ids) == len(promised) + again["sampled"]
    front.close()


def test_every_accepted_record_ends_once_after_the_whole_sidecar_was_killed(
    make_staffed: Any, record: Any, states: Any, scorers: Any
) -> None:
    """Front and scorer at once, as when the pod is out of memory; then it is started again."""
    front = make_staffed()
    ids = [f"r{n}" for n in range(20)]
    front.post_records(*(record(name, "sleep 0.05") for name in ids))
    front.wait_for(lambda: ("scored", None) in states(front).values())
    [child] = scorers(front)
    front.kill()
    child.kill()
    assert ("queued", None) in states(front).values(), "it was killed in the middle"

    front.start()
    front.wait_for(lambda: {state for state, _ in states(front).values()} <= FINAL)
    assert states(front) == dict.fromkeys(ids, ("scored", None))
    assert front.rows("SELECT count(*) AS n FROM scores") == [{"n": 20}]
    front.wait_for(lambda: front.rows(UNCOUNTED) == [{"n": 0}])
    front.close()


def test_without_stored_texts_what_waited_ends_with_its_reason(
    make_staffed: Any, record: Any, states: Any, scorers: Any
) -> None:
    """In `hash_only` mode the key of the queue lives in memory only, and dies with the front.

    Scorers are handed the key; nobody being left to stop them, they finish what they have
    begun and end by themselves.
    """
    secret = "sleep 1 Trevor Deely"
    front = make_staffed(storage={"mode": "hash_only"})
    front.post_records(record("begun", secret), record("waiting", secret))
    front.wait_for(lambda: states(front)["begun"][0] == "leased")
    [child] = scorers(front)
    front.kill()
    child.wait(timeout=10)
    assert states(front) == {"begun": ("scored", None), "waiting": ("queued", None)}
    stored = b"".join(file.read_bytes() for file in front.folder.glob("hss.db*"))
    assert b"Deely" not in stored

    front.start()
    front.wait_for(lambda: states(front)["waiting"][0] in FINAL)
    assert states(front)["waiting"] == ("skipped", "content_lost")
    front.close()
