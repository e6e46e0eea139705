"""Which words make an attribution unstable: where the weight went when the text was reworded.

NumPy only, so that whoever shows stored attributions needs none of the methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
    before = _scaled(original)
    after = [scaled for version in versions if (scaled := _scaled(version)) is not None]
    if before is None or not after:
        return None
    return np.asarray(np.abs(np.stack(after) - before).mean(axis=0) / 2, dtype=np.float64)


def _scaled(values: Sequence[float]) -> FloatArray | None:
    array = np.asarray(values, dtype=np.float64)
    total = float(np.abs(array).sum())
    return None if total == 0.0 else array / total
