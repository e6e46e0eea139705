"""Records that ended badly, queued once more."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.errors import LeaseLost
from monitor.records import Reason, RecordState
from monitor.stores import now


@pytest.fixture
def fail(stores: Any, made: Any) -> Any:
    """Ends a record without a score; gives the lease that did it."""

    def fail(record: str, state: RecordState = RecordState.FAILED) -> Any:
        stores.queue.accept([made.waiting(record, now())])
        [leased] = stores.queue.lease("test", count=1, seconds=60)
        result = made.scored(
            record,
            None,
            state=state,
            reason=Reason.SUMMARIZER_TIMEOUT,
            severity=None,
            raw_distance=None,
        )
        stores.queue.finish(leased.lease, result)
        return leased.lease

    return fail


def test_a_failed_record_is_scored_again(cli: Any, fail: Any, stores: Any, made: Any) -> None:
    """As if it had just come in: no attempt is used up, nothing of the first try is left."""
    fail("a")
    result = cli("records", "retry", "a")
    assert (result.code, result.err.strip()) == (0, "a: queued again")
    [queued] = cli("records", "show", "a", "--json").objects
    assert (queued["row"]["state"], queued["row"]["attempts"]) == ("queued", 0)
    assert (queued["row"]["reason"], queued["score"]) == (None, None)
    [again] = stores.queue.lease("test", count=1, seconds=60)
    assert (again.record.document, again.lease.attempt) == (
        "The harbour council approved the budget.",
        1,
    )
    stores.queue.finish(again.lease, made.scored("a", 0.4))
    [scored] = cli("records", "show", "a", "--json").objects
    assert (scored["row"]["state"], scored["row"]["hss"]) == ("scored", 0.4)


def test_its_second_end_is_counted_as_well(fail: Any, cli: Any, stores: Any, made: Any) -> None:
    """The failure was one, and the score is one: histograms would miss it otherwise."""
    fail("a")
    assert [each.state for each in stores.repository.take_unobserved("test")] == ["failed"]
    cli("records", "retry", "a")
    assert stores.repository.take_unobserved("test") == []
    [again] = stores.queue.lease("test", count=1, seconds=60)
    stores.queue.finish(again.lease, made.scored("a", 0.4))
    assert [each.hss for each in stores.repository.take_unobserved("test")] == [0.4]


def test_a_late_answer_of_the_first_try_is_dropped(
    fail: Any, cli: Any, stores: Any, made: Any
) -> None:
    """A scorer that repeats its `finish` after a broken connection must not end the new try."""
    lease = fail("a")
    cli("records", "retry", "a")
    with pytest.raises(LeaseLost):
        stores.queue.finish(lease, made.scored("a", 0.9))


def test_what_cannot_be_retried_says_why(
    cli: Any, fail: Any, stores: Any, made: Any, monkeypatch: Any
) -> None:
    """One answer a record, the others are queued all the same."""
    made.save_scores(stores, [0.3], since=now(), prefix="scored")
    fail("erased", RecordState.SKIPPED)
    monkeypatch.setenv("HSS_MONITOR__STORAGE__KEEP_TEXTS_DAYS", "1e-9")
    cli("db", "prune")
    fail("good")
    result = cli("records", "retry", "scored0000", "erased", "nope", "good", "good", "--json")
    assert result.code == 2
    answers = {row["record_id"]: row["refused"] for row in result.objects}
    assert list(answers) == ["scored0000", "erased", "nope", "good"]
    assert "scored" in answers["scored0000"]
    assert "storage.keep_texts_days" in answers["erased"]
    assert "records list" in answers["nope"]
    assert answers["good"] is None
    told = cli("records", "retry", "good")
    assert ("it is queued" in told.err, told.code) == (True, 1)


def test_sealed_content_that_was_erased_cannot_come_back(
    cli: Any, config_file: Any, monkeypatch: Any, add_records: Any
) -> None:
    """`hash_only` keeps a text until its record ends, whatever the end is."""
    monkeypatch.setenv("HSS_MONITOR__STORAGE__MODE", "hash_only")
    record = {"id": "a", "document": "d", "summary": "s", "service": "news", "model": "m"}
    add_records([record])
    # The key of the process that queued it is gone with that process.
    from monitor import configuration
    from monitor.stores import open_stores

    with open_stores(configuration.load(config_file)) as stores:
        assert stores.queue.lease("test", count=1, seconds=60) == []
    result = cli("records", "retry", "a")
    assert result.code == 1
    assert "hash_only" in result.err
