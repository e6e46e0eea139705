"""Has a signal moved away from its frozen reference, since when, and how far.

Plain numbers in, frozen records out: no SQL, no settings, no clock. In the order in which
a series is judged:

`signals` maps a stored score to [0, 1]; `reference` freezes what was normal (`fitting` makes it
of records), with a limit for every hour of the day (`cycle`); `edetector` follows the records one
by one and gives the promise on false alarms; `psi`, `ks` and `wasserstein` compare a window as a
whole, their p-values by `permutation` of blocks (`comparison`), corrected over all series
(`correction`); `watch` holds the alarm until recovery; `verdict` makes one state of it. `hajek`
weights every mean by the sampling; `simulate` measures all of it on `scenarios` beside its
`rivals`.
"""
