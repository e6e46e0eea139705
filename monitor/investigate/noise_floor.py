"""Where an instability says nothing, for pages and terminal alike."""

from __future__ import annotations

from typing import Final

from monitor.investigate.record_parts import MethodFacts
from monitor.records import MethodResult

NOT_ABOVE: Final = (
    "not above its noise floor: the method explains the unchanged document no more stably, so "
    "marks of unstable words say nothing here"
)


def above_floor(method: MethodResult | MethodFacts) -> bool:
    """Whether rewording changes the attribution more than explaining it once more does.

    Where either is unknown nothing speaks against it.
    """
    if method.instability is None or method.noise_floor is None:
        return True
    return method.instability > method.noise_floor
