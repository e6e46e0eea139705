"""Which words make an attribution unstable: where the weight went when the text was reworded.

NumPy only, so that whoever shows stored attributions needs none of the methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.attribution.scaling import scaled
from monitor.records import FloatArray


def word_instability(
    original: Sequence[float], versions: Sequence[Sequence[float]]
) -> FloatArray | None:
    """How much of the attribution each word lost or gained under rewording: (words,).

        u_i = (1/2K') Σ_k |φ_i/Σ|φ| − φ_i⁽ᵏ⁾/Σ|φ⁽ᵏ⁾||

    Each lies in [0, 1], and together they are the total variation distance of the signed
    attributions, in [0, 1]: u_i is the part of the instability that this word has. `None`
    where the original, or every version, is zero everywhere. All are aligned word by word.

    >>> word_instability([1.0, 1.0, 0.0], [[0.0, 1.0, -1.0]])
    array([0.25, 0.  , 0.25])
    """
    before = scaled(np.asarray(original, dtype=np.float64))
    shapes = (scaled(np.asarray(version, dtype=np.float64)) for version in versions)
    after = [shape for shape in shapes if shape is not None]
    if before is None or not after:
        return None
    return np.asarray(np.abs(np.stack(after) - before).mean(axis=0) / 2, dtype=np.float64)
