"""What the colours of a present value say."""

from __future__ import annotations

from monitor.mixin.panels import Step

NONE_IS_GOOD = (Step(value=None, colour="green"), Step(value=1, colour="red"))
NONE_IS_BAD = (Step(value=None, colour="red"), Step(value=1, colour="green"))
JUST_ONE_IS_GOOD = (*NONE_IS_BAD, Step(value=2, colour="orange"))


def late(orange: float, red: float) -> tuple[Step, ...]:
    """Of an age in seconds: green until it is `orange`, then orange until it is `red`."""
    return (
        Step(value=None, colour="green"),
        Step(value=orange, colour="orange"),
        Step(value=red, colour="red"),
    )
