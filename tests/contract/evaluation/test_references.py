"""References are of the calibration's own making, and stay comparable with what comes later."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from monitor.calibrating import Window, calibrate_window, note_fingerprint, renormalize
from monitor.drift.reference import restore_reference
from monitor.drift_references import fit_references
from monitor.evaluator import SqlSamples
from monitor.findings import Series
from monitor.records import Calibration
from monitor.scoring.fingerprint import fingerprint
from monitor.settings.watching import Drift
from monitor.storage.reference_documents import ReferenceWindow
from monitor.storage.tables import scores
from monitor.stores import Stores, now

NEWS = Series(service="news", model="gemma", category="politics")
SETTINGS = Drift(signals=("hss", "raw_distance", "summary_words"), min_reference_records=30)
COUNT = 40


@pytest.fixture
def distances() -> list[float]:
    return np.random.default_rng(1).uniform(0.1, 0.4, COUNT).round(3).tolist()


def _fitted(stores: Stores, calibration: Calibration, **window: Any):
    whole = Window(name="w", since=calibration.since, until=calibration.until, **window)
    return {
        (each.series.service, each.signal): each
        for each in fit_references(stores, calibration, whole, SETTINGS)
    }


def test_hss_is_the_one_that_the_calibration_gives(stores, score, calibration, distances) -> None:
    """Stored HSS are of an older normalizer, or missing; M = 0.5 makes D/0.5 of every distance."""
    score(distances)
    found = _fitted(stores, calibration("cal-1", 0.5, hours=COUNT))
    reference = restore_reference(found["news", "hss"].fitted)
    assert reference.mean == pytest.approx(np.mean(distances) / 0.5)
    assert reference.id == "cal-1"
    assert found["news", "raw_distance"].records == COUNT


def test_a_reference_that_cannot_be_had_says_why(stores, score, calibration, distances) -> None:
    """ "39 records, it takes 200" is what the operator has to read."""
    score(distances[:20])
    found = _fitted(stores, calibration("cal-1", 0.5, hours=COUNT))["news", "hss"]
    assert (found.fitted, found.reason, found.records) == (None, "too_few_records", 20)
    assert found.detail == "20 reference records, it takes 30"


def test_records_without_a_share_are_left_out_and_counted(
    stores, score, calibration, distances
) -> None:
    """Distances are adjusted for the share of replaced words; lengths do without one."""
    score(distances)
    with stores.database.write() as connection:
        connection.execute(
            sa.update(scores)
            .where(scores.c.record_id.in_(("news-000", "news-007")))
            .values(mean_share=None)
        )
    found = _fitted(stores, calibration("cal-1", 0.5, hours=COUNT))
    told = "2 records left out: no share of replaced words is stored with them"
    distance = found["news", "raw_distance"]
    assert (distance.records, distance.detail) == (COUNT - 2, told)
    kept = [value for place, value in enumerate(distances) if place not in {0, 7}]
    assert restore_reference(distance.fitted).mean == pytest.approx(np.mean(kept))
    assert (found["news", "hss"].records, found["news", "hss"].detail) == (COUNT - 2, told)
    length = found["news", "summary_words"]
    assert (length.records, length.detail) == (COUNT, "")


def test_without_any_share_there_is_no_reference(stores, score, calibration, distances) -> None:
    """And calibrating goes on: the other signals have theirs."""
    score(distances)
    with stores.database.write() as connection:
        connection.execute(sa.update(scores).values(mean_share=None))
    found = _fitted(stores, calibration("cal-1", 0.5, hours=COUNT))
    distance = found["news", "raw_distance"]
    assert (distance.fitted, distance.reason, distance.records) == (None, "too_few_records", 0)
    assert distance.detail.startswith("0 reference records, it takes 30; 40 records left out")
    assert found["news", "summary_words"].fitted is not None


def test_only_series_of_the_window_are_fitted(stores, score, calibration, distances) -> None:
    """A calibration of one service says nothing about another."""
    score(distances)
    score(distances[:2], service="sport")
    one = calibration("cal-1", 0.5, hours=COUNT)
    assert {service for service, _ in _fitted(stores, one, service="news")} == {"news"}
    assert {service for service, _ in _fitted(stores, one)} == {"news", "sport"}


def test_a_calibration_of_one_service_leaves_the_others_what_they_are_held_to(
    stores, score, calibration
) -> None:
    """The way back from a false alarm of one service must not blind the monitor for all others."""
    score([0.2, 0.25] * 60)
    score([0.4, 0.45] * 60, service="sport")
    settings = {"encoder": "minilm"}
    mark = fingerprint(settings)
    note_fingerprint(stores, mark, settings)
    with stores.database.write() as connection:
        connection.execute(sa.update(scores).values(fingerprint=mark))
    sport = Series(service="sport", model="gemma", category="politics")

    def frozen(window: Window) -> Calibration:
        made = calibrate_window(stores, window, fingerprint=None, min_documents=COUNT)
        stores.calibrations.add(made, activate=False)
        stores.drift.save_references(fit_references(stores, made, window, SETTINGS))
        renormalize(stores, made, window)
        assert stores.drift.uncovered(made.id) == []
        stores.calibrations.activate(made.id)
        return made

    first = frozen(Window(name="all", until=calibration("any", 0.5, hours=120).until))
    score([0.8], first=120, service="sport", fingerprint=mark)
    second = frozen(Window(name="again", until=now(), service="news"))
    third = frozen(Window(name="once more", until=now(), service="news"))
    assert [each.normalizers[0].documents for each in (first, second, third)] == [240] * 3
    assert first.warnings == ()
    assert third.warnings == (
        "sport · gemma · politics: nothing of it is in this window, so it keeps its reference of "
        f"{first.id}",
    )
    held = {
        name: {(each.series, each.signal): each for each in stores.drift.references(name)}
        for name in (first.id, third.id)
    }
    before, after = (held[name][sport, "raw_distance"] for name in (first.id, third.id))
    assert (after.fitted, after.origin, after.since) == (before.fitted, first.id, before.since)
    assert held[third.id][NEWS, "raw_distance"].origin is None
    hss = restore_reference(held[third.id][sport, "hss"].fitted)
    assert (hss.id, hss.records) == (third.id, 120)
    samples = SqlSamples(stores)
    for signal in ("hss", "raw_distance"):
        found = samples.reference(sport, signal, third, until=third.created_at)
        assert (len(found), found.ids[-1]) == (120, "sport-119")
    assert len(samples.sample(sport, "hss", calibration=third)) == 121


def test_a_release_is_a_reference_of_its_own(stores, score, calibration) -> None:
    """While a canary runs beside it no stretch of time holds one release alone."""
    for hour in range(0, 2 * COUNT, 2):
        score([0.2 + hour / 1000], first=hour, release="good")
        score([0.9], first=hour + 1, release="canary")
    assert stores.repository.fingerprints(ReferenceWindow(release="good")) == {"fp1": COUNT}
    made = calibration("cal-1", 0.5, hours=2 * COUNT, release="good")
    window = Window(name="w", since=made.since, until=made.until, release="good")
    stores.calibrations.add(made, activate=True)
    assert stores.calibrations.get(made.id) == made
    stores.drift.save_references(fit_references(stores, made, window, SETTINGS))
    # The canary's HSS have to compare with the reference, too.
    assert renormalize(stores, made, window) == 2 * COUNT
    references = {each.signal: each for each in stores.drift.references(made.id)}
    assert {each.release for each in references.values()} == {"good"}
    frozen = restore_reference(references["raw_distance"].fitted)
    assert (frozen.records, frozen.mean) == (COUNT, pytest.approx(0.239))
    samples = SqlSamples(stores)
    for signal in ("raw_distance", "hss"):
        found = samples.reference(NEWS, signal, made, until=made.created_at)
        assert (len(found), set(found.releases)) == (COUNT, {"good"})
    # What comes after the reference is watched whatever its release.
    for signal in ("raw_distance", "hss"):
        assert len(samples.sample(NEWS, signal, calibration=made)) == 2 * COUNT


def test_a_reference_that_was_changing_is_warned_about(stores, score, calibration) -> None:
    """Two releases in one window are no normal."""
    before, after = np.random.default_rng(2).uniform((0.1, 0.5), (0.3, 0.7), (100, 2)).T
    score([*before.round(3), *after.round(3)])
    found = _fitted(stores, calibration("cal-1", 0.5, hours=200))
    assert found["news", "summary_words"].warning is None
    assert "half of this reference differ" in found["news", "raw_distance"].warning


def test_records_of_another_normalizer_are_not_followed(
    stores, score, calibration, distances
) -> None:
    """HSS of two normalizers differ without any drift; raw distances compare all the same."""
    score(distances[:3], calibration_id="cal-0")
    score(distances[3:5], first=3, calibration_id="cal-1")
    samples, one = SqlSamples(stores), calibration("cal-1", 0.5, hours=1)
    assert samples.sample(NEWS, "hss", calibration=one).ids == ("news-003", "news-004")
    assert len(samples.sample(NEWS, "raw_distance", calibration=one)) == 5
    assert len(samples.sample(NEWS, "hss")) == 5


def test_after_the_way_back_the_reference_is_what_it_was(
    stores, score, calibration, distances
) -> None:
    """A newer calibration has renormalized the same records; its HSS are not the old one's."""
    score(distances[:4])
    old, new = (calibration(name, m, hours=4) for name, m in (("old", 0.5), ("new", 0.8)))
    for each in (old, new):
        stores.calibrations.add(each, activate=True)
        renormalize(stores, each, Window(name="w", since=each.since, until=each.until))
    until = old.since + timedelta(hours=3)
    found = SqlSamples(stores).reference(NEWS, "hss", old, until=until)
    assert found.values == pytest.approx(np.array(distances[:4]) / 0.5)
    assert found.ids[-1] == "news-003", "`until` itself is inside"
