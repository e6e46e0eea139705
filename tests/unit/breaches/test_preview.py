"""What a threshold would have done, and why the reference has to be frozen."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.breaches.lifecycle import Breach, BreachState, step
from monitor.breaches.preview import preview
from monitor.breaches.thresholds import Bound, Threshold, evaluate
from monitor.breaches.window import Records
from monitor.drift.fitting import fit_reference
from monitor.drift.signals import Scale
from monitor.drift.watch import follow, start
from monitor.errors import MalformedInput

HOUR = 3600.0


@pytest.fixture
def threshold() -> Threshold:
    return Threshold(
        name="hss", signal="hss", limit=Bound(value=0.4), margin=0.05, hold=600.0, calm=1200.0
    )


@pytest.fixture
def stored() -> tuple[Records, np.ndarray]:
    """A record a minute for ten days; on days 3 and 7 two bad hours from noon on."""
    times = np.arange(0, 240 * HOUR, 60.0)
    hours = times / HOUR
    bad = sum((hours >= day * 24 + 12) & (hours < day * 24 + 14) for day in (3, 7))
    values = np.random.default_rng(1).beta(2, 8, len(times)) + 0.4 * bad
    ids = tuple(f"r{index}" for index in range(len(times)))
    return Records(values=values, weights=np.ones(len(times)), ids=ids), times


def test_two_bad_spells_are_two_pages_with_their_records(threshold, stored) -> None:
    """ "2 pages in the last 10 days, these records"."""
    records, times = stored
    found = preview(threshold, records, times, since=0.0, until=240 * HOUR, every=300.0)
    assert [breach.state for breach in found.breaches] == [BreachState.RESOLVED] * 2
    for breach, day in zip(found.breaches, (3, 7), strict=True):
        noon = (day * 24 + 12) * HOUR
        assert noon < breach.opened_at < noon + HOUR
        assert noon + 2 * HOUR < breach.resolved_at < noon + 4 * HOUR
        assert breach.contributors
        for contributor in breach.contributors:
            assert noon <= times[int(contributor.record_id[1:])] < noon + 2 * HOUR
    assert found.open_seconds == sum(b.resolved_at - b.opened_at for b in found.breaches)


def test_it_does_what_the_live_evaluation_would_have_done(threshold, stored) -> None:
    """Step by step over day 3, with windows cut by hand."""
    records, times = stored
    since, until = 80 * HOUR, 96 * HOUR
    breach, pages = Breach(), []
    for now in np.arange(since, until + 1, 300.0):
        inside = (times > now - threshold.window) & (times <= now)
        window = Records(
            values=records.values[inside],
            weights=records.weights[inside],
            ids=tuple(np.array(records.ids)[inside].tolist()),
        )
        taken = step(breach, threshold, evaluate(threshold, window), now=float(now))
        breach = taken.breach
        pages += [now] if taken.opened else []
    found = preview(threshold, records, times, since=since, until=until, every=300.0)
    assert [b.opened_at for b in found.breaches] == pages
    assert len(pages) == 1


def test_a_breach_that_is_still_open_counts_to_the_end(threshold, stored) -> None:
    """Cut off in the middle of the bad spell."""
    records, times = stored
    until = (3 * 24 + 13) * HOUR
    found = preview(threshold, records, times, since=70 * HOUR, until=until, every=300.0)
    (breach,) = found.breaches
    assert breach.state is BreachState.OPEN
    assert found.open_seconds == until - breach.opened_at


def test_hours_without_records_are_counted_as_unanswered(threshold, stored) -> None:
    """A threshold that can hardly ever answer should be noticed before it is relied on."""
    records, times = stored
    found = preview(threshold, records, times, since=-2 * HOUR, until=-HOUR, every=600.0)
    assert (found.evaluations, found.unanswered, found.breaches) == (7, 7, ())


def test_unsorted_times_are_refused(threshold, stored) -> None:
    """Windows are cut by bisection."""
    records, times = stored
    with pytest.raises(MalformedInput, match=r"times.*ascending"):
        preview(threshold, records, times[::-1], since=0.0, until=HOUR)


def _hss(distances: np.ndarray, normalizers: np.ndarray) -> np.ndarray:
    """The definition: mean over K of min(D/M, 1); distances (n, K), normalizers (n,)."""
    return np.minimum(distances / normalizers[:, None], 1.0).mean(axis=1)


@pytest.mark.parametrize("over", [0, 1000])
def test_a_degraded_model_cannot_hide_from_a_frozen_reference(threshold, over: int) -> None:
    """Distances double, at once or over 1,000 records: with M frozen a breach opens and stays
    open, and drift is found. A normalizer that rolls with the traffic misses the slow change
    altogether, and calls the sudden one over while the model is as bad as ever."""
    rng = np.random.default_rng(2)
    reference, live, per_hour = 1000, 3000, 40
    times = np.arange(reference + live) * HOUR / per_hour
    distances = 2 * rng.beta(2, 12, (reference + live, 8))
    since = np.arange(reference + live) - reference - 1000
    grown = np.clip(since / over, 0, 1) if over else (since >= 0)
    distances = np.clip(distances * (1 + grown)[:, None], 0, 2)

    frozen = np.full(len(times), np.quantile(distances[:reference], 0.95))
    rolling = frozen.copy()
    for index in range(reference, len(times)):
        rolling[index] = np.quantile(distances[index - 300 : index], 0.95)

    outcomes = {}
    for name, normalizers in (("frozen", frozen), ("rolling", rolling)):
        hss = _hss(distances, normalizers)
        normal = Records(
            values=hss[:reference],
            weights=np.ones(reference),
            ids=tuple(str(index) for index in range(reference)),
        )
        judged = Threshold(
            name="hss",
            signal="hss",
            limit=Bound(reference_quantile=0.9),
            hold=threshold.hold,
            calm=threshold.calm,
        )
        everything = Records(
            values=hss, weights=np.ones(len(hss)), ids=tuple(str(i) for i in range(len(hss)))
        )
        pages = preview(
            judged.against(normal),
            everything,
            times,
            since=times[reference],
            until=times[-1],
            every=300.0,
        )
        fitted = fit_reference(hss[:reference], times[:reference], id=name, scale=Scale.UNIT)
        seen = fitted.observe(hss[reference:], times[reference:])
        watch = follow(start(name), seen, reference_id=name, threshold=1e6)
        drifted = watch.alarm is not None and watch.alarm.direction == "level_up"
        still_open = bool(pages.breaches) and pages.breaches[-1].state is BreachState.OPEN
        outcomes[name] = (still_open, drifted)
        if over:
            assert len(pages.breaches) == (1 if name == "frozen" else 0)
    assert outcomes == {"frozen": (True, True), "rolling": (False, False)}
