"""Consistent sampling: replicas agree, picks nest, and upstream choices stay independent."""

from datetime import UTC, datetime
from random import Random

import pytest

from monitor.errors import ConfigurationError, MalformedInput
from monitor.records import UNCOUNTED, IncomingRecord, SamplingEpoch, Stratum
from monitor.sampling.sampler import ConsistentSampler

START = datetime(2025, 3, 4, tzinfo=UTC)
NEWS = Stratum(service="s", model="m", category="news")


def epoch(rate, *, number=1, rates=None):
    return SamplingEpoch(
        number=number, starts_at=START, ends_at=START, rates=rates or {}, default_rate=rate
    )


def record(trace_id=None, *, id="r", category=None, upstream=1.0):
    return IncomingRecord(
        id=id,
        document="d",
        summary="s",
        service="s",
        model="m",
        received_at=START,
        category=category,
        trace_id=trace_id,
        upstream_probability=upstream,
    )


def traces(count, seed=1):
    random = Random(seed)
    return [f"{random.getrandbits(128):032x}" for _ in range(count)]


def picks(rate, ids, salt="salt"):
    sampler = ConsistentSampler(salt=salt, epoch=epoch(rate))
    return {trace for trace in ids if sampler.decide(record(trace)).sampled}


def test_replicas_with_one_salt_agree():
    """No replica knows what the others saw."""
    ids = traces(500)
    assert picks(0.3, ids) == picks(0.3, list(reversed(ids)))


def test_another_salt_picks_others():
    """Two installations behind each other must not starve the same traces: 30 % of 30 %."""
    ids = traces(10_000)
    both = picks(0.3, ids, "one") & picks(0.3, ids, "two")
    assert len(both) == pytest.approx(900, abs=120)


def test_share_of_picks_is_the_rate():
    """Four binomial standard deviations of 10,000 draws at 0.2 are 160."""
    assert len(picks(0.2, traces(10_000))) == pytest.approx(2_000, abs=160)


def test_higher_rate_keeps_all_earlier_picks():
    """Raising the rate in an incident must not lose the traces that were looked at."""
    ids = traces(1_000)
    nested = [picks(rate, ids) for rate in (0.0, 0.1, 0.5, 1.0)]
    assert nested[0] == set()
    assert nested[0] <= nested[1] <= nested[2] <= nested[3] == set(ids)


def test_choice_is_independent_of_an_upstream_threshold_on_the_trace_id():
    """OpenTelemetry keeps a trace by its last 56 bits; ours has to be a fresh 10 % of those."""
    kept = [trace for trace in traces(40_000) if int(trace[-14:], 16) >= 0.9 * 2**56]
    share = len(picks(0.1, kept)) / len(kept)
    assert share == pytest.approx(0.1, abs=0.02)


def test_probability_is_own_rate_times_upstream():
    """By hand: 0.5 · 0.2."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(0.5))
    assert sampler.decide(record("a" * 32, upstream=0.2)).probability == pytest.approx(0.1)


def test_records_of_one_trace_share_their_fate():
    """Variance is clustered by trace, which assumes it."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(0.5))
    for trace in traces(50):
        assert len({sampler.decide(record(trace, id=str(i))).sampled for i in range(5)}) == 1


def test_record_without_trace_is_decided_by_its_id():
    """Records posted directly carry no trace."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(0.5))
    kept = sum(sampler.decide(record(id=f"r{i}")).sampled for i in range(2_000))
    assert kept == pytest.approx(1_000, abs=90)


def test_rate_of_the_stratum_goes_before_the_default():
    """The category known on arrival is part of the stratum."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(0.0, number=7, rates={NEWS: 1.0}))
    known = sampler.decide(record("a" * 32, category="news"))
    unknown = sampler.decide(record("a" * 32))
    assert (known.sampled, known.stratum, known.epoch) == (True, NEWS, 7)
    assert (unknown.sampled, unknown.stratum.category) == (False, "")


def test_next_epoch_applies_from_the_next_record_on():
    """The job that advances epochs runs beside the event loop."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(0.0))
    sampler.use(epoch(1.0, number=2))
    assert sampler.decide(record("a" * 32)).sampled
    assert sampler.epoch.number == 2


@pytest.mark.parametrize("upstream", [0.0, -0.1, 1.5, float("nan")])
def test_impossible_upstream_probability_is_refused(upstream):
    """Its inverse is a weight."""
    sampler = ConsistentSampler(salt="salt", epoch=epoch(1.0))
    with pytest.raises(MalformedInput, match="upstream_probability"):
        sampler.decide(record("a" * 32, upstream=upstream))


def test_empty_salt_is_refused():
    """An unkeyed hash is the one that others may use as well."""
    with pytest.raises(ConfigurationError, match=r"sampling\.salt"):
        ConsistentSampler(salt="", epoch=epoch(1.0))


def test_a_stratum_that_was_not_counted_apart_has_the_rate_of_those():
    """Their share of the budget was computed for all of them together."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    epoch = SamplingEpoch(
        number=2, starts_at=now, ends_at=now, rates={UNCOUNTED: 0.25}, default_rate=1.0
    )
    assert epoch.rate(Stratum(service="new", model="m", category="")) == 0.25
