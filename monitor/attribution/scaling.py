"""The shape of an attribution without its size, in which attributions are compared.

NumPy only, so that whoever shows stored attributions needs none of the methods.
"""

from __future__ import annotations

import numpy as np

from monitor.records import FloatArray


def scaled(values: FloatArray) -> FloatArray | None:
    """φ/Σ|φ|, (n,) → (n,); `None` where all are zero.

    Divided by the greatest |φ| before, so that no sum overflows or vanishes.

    >>> scaled(np.array([3.0, -1.0]))
    array([ 0.75, -0.25])
    """
    largest = np.max(np.abs(values), initial=0.0)
    if largest == 0.0:
        return None
    shape = values / largest
    return np.asarray(shape / np.abs(shape).sum(), dtype=np.float64)
