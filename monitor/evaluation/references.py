"""Which calibration a series is held to, and its references as the detectors take them."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.drift.reference import Insufficient, Lacking, Reference, restore_reference
from monitor.errors import MalformedInput
from monitor.evaluation.ports import Calibrations, DriftStore
from monitor.findings import Series, StoredReference
from monitor.records import Calibration


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """One signal of one series beside its reference."""

    calibration: Calibration
    stored: StoredReference
    reference: Reference | Insufficient


class References:
    """The references of the active calibrations.

    A series is held to the newest active calibration that has references of it; the shipped
    (provisional) one has no records and holds nobody. Read again only when another calibration
    becomes active: a stored reference never changes.
    """

    def __init__(self, calibrations: Calibrations, store: DriftStore) -> None:
        self._calibrations = calibrations
        self._store = store
        self._active: tuple[Calibration, ...] = ()
        self._held: dict[tuple[Series, str], Held] = {}
        self._of_series: dict[Series, Calibration] = {}

    def refresh(self) -> None:
        """Look which calibrations are active now."""
        active = tuple(each for each in self._calibrations.in_force() if not each.provisional)
        ids = [calibration.id for calibration in active]
        if ids == [calibration.id for calibration in self._active]:
            return
        rank = {calibration_id: place for place, calibration_id in enumerate(ids)}
        stored = [each for each in self._store.references() if each.calibration_id in rank]
        best: dict[Series, int] = {}
        for each in stored:
            place = rank[each.calibration_id]
            best[each.series] = min(place, best.get(each.series, place))
        self._held = {
            (each.series, each.signal): Held(
                calibration=active[rank[each.calibration_id]],
                stored=each,
                reference=_restored(each),
            )
            for each in stored
            if rank[each.calibration_id] == best[each.series]
        }
        self._of_series = {series: active[place] for series, place in best.items()}
        self._active = active

    def of(self, series: Series, signal: str) -> Held | None:
        """The reference of a signal; `None` where the calibration knows nothing of it."""
        return self._held.get((series, signal))

    def calibration(self, series: Series) -> Calibration | None:
        """The calibration that a series is held to; the newest where none has references of it."""
        newest = self._active[0] if self._active else None
        return self._of_series.get(series, newest)


def _restored(stored: StoredReference) -> Reference | Insufficient:
    if stored.fitted is not None:
        try:
            return restore_reference(stored.fitted)
        except MalformedInput as error:
            return Insufficient(reason=Lacking.NO_REFERENCE, detail=str(error))
    return Insufficient(reason=Lacking(stored.reason or Lacking.NO_REFERENCE), detail=stored.detail)
